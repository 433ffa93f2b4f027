//! What a shell command would do, told without running it.
