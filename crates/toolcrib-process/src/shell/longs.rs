//! Long options that are known to change nothing. Parsers take any unambiguous beginning of an option for it, so what is not
//! spelled out here, letter by letter, proves nothing.

use super::args::{Args, listed};

/// Of programs that read.
const READ: &str = "all almost-all author escape block-size ignore-backups directory color colour file-type classify full-time \
    group-directories-first no-group human-readable si dereference dereference-command-line hide indicator-style \
    inode ignore kibibytes numeric-uid-gid literal quote-name quoting-style reverse recursive size sort time \
    time-style width context zero show-all number-nonblank show-ends number squeeze-blank show-tabs \
    show-nonprinting bytes lines quiet silent verbose zero-terminated follow pid retry sleep-interval chars \
    words max-line-length total extended-regexp fixed-strings basic-regexp perl-regexp regexp file \
    ignore-case no-ignore-case invert-match word-regexp line-regexp count max-count only-matching no-messages \
    byte-offset with-filename no-filename label line-number initial-tab null null-data after-context \
    before-context binary-files exclude exclude-from exclude-dir include text line-buffered binary \
    files-without-match files-with-matches complement delimiter fields characters only-delimited \
    output-delimiter delete squeeze-repeats truncate-set1 brief report-identical-files unified normal \
    side-by-side suppress-common-lines ignore-all-space ignore-space-change ignore-blank-lines \
    strip-trailing-cr minimal new-file show-c-function print-bytes skip format printf file-system terse \
    apparent-size max-depth separate-dirs summarize threshold one-file-system inodes local portability \
    print-type type logical physical canonicalize canonicalize-existing canonicalize-missing no-newline \
    relative-to relative-base strip multiple suffix kernel-name nodename kernel-release kernel-version \
    machine processor operating-system user group groups name real ignore-leading-blanks dictionary-order \
    fold-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort \
    version-sort check debug key field-separator stable unique parallel repeated all-repeated \
    skip-fields skip-chars check-chars tag status warn strict date utc universal iso-8601 rfc-3339 rfc-email \
    reference ignore-interrupts equal-width separator separate serial address-radix skip-bytes read-bytes \
    format strings decode wrap ignore-garbage head-count input-range echo repeat mime mime-type \
    mime-encoding extension no-pad keep-going kilo mega giga wide table json version help \
    files hidden no-ignore no-ignore-vcs no-heading heading glob iglob smart-case case-sensitive \
    multiline multiline-dotall pcre2 stats type-not type-list column no-line-number max-columns max-filesize \
    sort sortr trim vimgrep pretty passthru files-without-match no-config unrestricted context-separator \
    replace json absolute-path full-path extension max-results min-depth exact-depth changed-within \
    changed-before owner print0 list-details no-color gitignore dirsfirst noreport level raw-output \
    raw-input null-input compact-output slurp sort-keys color-output monochrome-output tab indent arg \
    argjson exit-status join-output args jsonargs long grid oneline tree icons git header accessed \
    modified created only-dirs only-files git-ignore";

/// Of git's commands that read.
const GIT: &str = "oneline graph all stat shortstat numstat dirstat summary name-only name-status cached staged merge-base short branch \
    show-stash porcelain long verbose untracked-files ignored ignore-submodules column no-column ahead-behind \
    no-ahead-behind renames no-renames find-renames find-copies find-copies-harder patch no-patch unified raw \
    minimal patience histogram diff-algorithm anchored indent-heuristic no-indent-heuristic patch-with-stat \
    compact-summary submodule color no-color color-moved word-diff word-diff-regex color-words check full-index \
    binary abbrev no-abbrev abbrev-commit no-abbrev-commit break-rewrites irreversible-delete diff-filter \
    pickaxe-all pickaxe-regex relative no-relative text ignore-cr-at-eol ignore-space-at-eol \
    ignore-space-change ignore-all-space ignore-blank-lines inter-hunk-context function-context exit-code quiet \
    no-ext-diff no-textconv no-prefix src-prefix dst-prefix default-prefix line-prefix ita-invisible-in-index \
    base ours theirs follow no-decorate decorate decorate-refs decorate-refs-exclude source mailmap use-mailmap \
    no-mailmap log-size max-count skip since after until before author committer grep-reflog grep all-match \
    invert-grep regexp-ignore-case basic-regexp extended-regexp fixed-strings perl-regexp merges no-merges \
    min-parents max-parents first-parent exclude-first-parent-only not branches tags remotes glob exclude \
    reflog walk-reflogs merge cherry-pick cherry-mark cherry left-only right-only left-right boundary \
    simplify-by-decoration full-history dense sparse simplify-merges ancestry-path show-pulls date-order \
    author-date-order topo-order reverse objects no-walk do-walk pretty format encoding expand-tabs \
    no-expand-tabs notes no-notes parents children show-linear-break date relative-date \
    cc diff-merges no-diff-merges remerge-diff count disk-usage root \
    abbrev-ref symbolic symbolic-full-name verify show-toplevel show-prefix show-cdup git-dir absolute-git-dir \
    git-common-dir is-inside-git-dir is-inside-work-tree is-bare-repository is-shallow-repository \
    show-superproject-working-tree show-object-format sq revs-only no-revs flags no-flags default git-path \
    path-format others modified deleted stage unmerged killed directory no-empty-directory exclude-standard \
    exclude-from exclude-per-directory full-name recurse-submodules error-unmatch eol deduplicate object-only \
    full-tree name-only line-porcelain incremental show-name show-number show-email score-debug \
    show-stats ignore-rev ignore-revs-file contains candidates exact-match debug tags always first-parent dirty \
    broken match numbered email group summary-format batch batch-check batch-all-objects follow-symlinks \
    unordered buffer allow-unknown-type refs undefined name-stdin annotate-stdin is-ancestor octopus \
    independent fork-point points-at merged no-merged no-contains sort shell python tcl omit-empty head heads \
    hash dereference list current more sha1-name independent topics untracked ignore-case word-regexp \
    invert-match files-with-matches files-without-match line-number only-matching break heading \
    show-function and or threads max-depth recursive no-recursive after-context before-context context \
    human-readable stdin non-matching no-index-info creation-factor no-dual-color left-only show-current \
    get get-all get-regexp get-urlmatch name-only show-origin show-scope local global system worktree null \
    type bool int path remotes porcelain cached version null-terminated z";

/// Programs to which a word with two dashes is only text.
const TEXT: &str = "echo printf test [ expr true false :";

/// Whether each long option is one that is known to change nothing.
pub(super) fn are_known(name: &str, args: Args<'_>) -> bool {
    if listed(TEXT, name) {
        return true;
    }
    let table = if name == "git" { GIT } else { READ };
    // To some of git's commands a whole option is the beginning of another one.
    let text_is_whole =
        args.any(&["diff", "log", "show", "grep", "diff-tree", "diff-index", "diff-files", "whatchanged"]);
    args.0.iter().take_while(|word| word.text != "--").all(|word| {
        let Some(option) = word.text.strip_prefix("--") else { return true };
        let option = option.split('=').next().unwrap_or(option);
        listed(table, option) && (name != "git" || option != "text" || text_is_whole)
    })
}
