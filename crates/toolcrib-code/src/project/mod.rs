//! What kind of project this is: measured and read from its own files, never guessed.
