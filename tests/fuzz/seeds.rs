//! Writes the good inputs that fuzzing begins with: `corpus/TARGET/seed-N`.

fn main() -> std::io::Result<()> {
    for (target, inputs) in relay_fuzz::seeds() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        std::fs::create_dir_all(&folder)?;
        for (number, input) in inputs.into_iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number}")), input)?;
        }
    }
    Ok(())
}
