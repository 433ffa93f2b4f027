//! Whether the truth, laid over the files by itself, says what it should: a check of the overlay.

use toolcrib_code::resolve::Program;
use toolcrib_code::scip::Overlay;

use crate::counts::Counts;
use crate::references::wanted;
use crate::truth::Truth;

pub(crate) fn score(program: &Program, truth: &Truth, counts: &mut Counts) {
    let snapshot = program.snapshot();
    let overlay = Overlay::new(&truth.index, snapshot, "");
    counts.overlaid = overlay.len();
    for (file, known) in &truth.files {
        let path = &program.file(*file).unwrap().path;
        for start in known.places.keys() {
            let Some((class, symbols)) = wanted(truth, *file, *start) else { continue };
            if class >= 3 {
                continue;
            }
            counts.overlay.all += 1;
            let Some(found) = overlay.definition_of(snapshot, path, *start) else { continue };
            let is_right = found.iter().any(|(path, at)| {
                let at = program.file_at(path).map(|file| (file, *at));
                at.is_some_and(|at| symbols.iter().any(|symbol| truth.definitions(*symbol).contains(&at)))
            });
            counts.overlay.right += usize::from(is_right);
            counts.overlay.wrong += usize::from(!is_right);
        }
    }
}
