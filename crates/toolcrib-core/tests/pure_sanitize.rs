//! Properties of text made visible.

use std::borrow::Cow;

use proptest::prelude::*;
use toolcrib_core::sanitize::{visible, visible_field, visible_path};

fn nasty() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        '\u{1b}',
        '\r',
        '\n',
        '\t',
        '\0',
        '\u{7}',
        '\u{8}',
        '\u{7f}',
        '\u{9b}',
        '\u{ad}',
        '\u{200b}',
        '\u{200c}',
        '\u{200d}',
        '\u{200e}',
        '\u{202e}',
        '\u{2028}',
        '\u{2066}',
        '\u{feff}',
        '\u{fe0f}',
        '\u{e0041}',
        '\u{e0100}',
        'a',
        ' ',
        '#',
        '葛',
        '😀',
        'é',
        'ن',
    ]);
    prop::collection::vec(prop_oneof![4 => odd, 1 => any::<char>()], 0..40)
        .prop_map(|chars| chars.into_iter().collect())
}

fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{61c}' | '\u{ad}' | '\u{e0000}'..='\u{e00ff}')
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn nothing_hidden_remains(text in nasty()) {
        let shown = visible(&text);
        let chars: Vec<char> = shown.chars().collect();
        for (i, c) in chars.iter().enumerate() {
            let kept = matches!(c, '\n' | '\t') || (*c == '\r' && chars.get(i + 1) == Some(&'\n'));
            prop_assert!(!c.is_control() || kept, "{c:?} in {shown:?}");
            prop_assert!(!is_hidden(*c), "{c:?} in {shown:?}");
        }
        let selector = |c: &char| matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
        prop_assert!(!chars.windows(2).any(|pair| pair.iter().all(selector)));
    }

    #[test]
    fn a_second_pass_changes_nothing(text in nasty()) {
        let once = visible(&text).into_owned();
        prop_assert!(matches!(visible(&once), Cow::Borrowed(_)), "{once:?}");
        let once = visible_path(&text).into_owned();
        prop_assert!(matches!(visible_path(&once), Cow::Borrowed(_)), "{once:?}");
        prop_assert!(!once.contains(['\n', '\r', '\t']));
    }

    #[test]
    fn ordinary_text_is_untouched(text in "[ -~\n\täöüßéñ日本語漢字αβγ😀🎉]{0,80}") {
        prop_assert!(matches!(visible(&text), Cow::Borrowed(_)));
    }

    #[test]
    fn fields_stay_within_their_length(text in nasty(), max in 1_usize..20) {
        let field = visible_field(&text, max);
        prop_assert!(field.chars().count() <= max);
        prop_assert!(!field.chars().any(char::is_control));
    }
}
