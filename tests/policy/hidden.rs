//! Code of other languages that hides what it does: every reader must see the doubt.

use super::{reasons, tier};

/// One-liners whose effect is hidden by a pattern, a comment, a quote, a variable's name or a text.
const HIDDEN: &[&str] = &[
    r##"perl -e 'print /"/; unlink(glob q(*)); print /"/'"##,
    r##"node -e 'typeof /"/; fs.rmSync("x"); typeof /"/'"##,
    r##"ruby -e 'p ?#; system("rm -rf x")'"##,
    r##"ruby -e 'p %#a#; system("rm -rf x")'"##,
    r##"php -r '#[A] function f(){system("rm -rf x");} f();'"##,
    r##"perl -e 'print if /(?{ system("rm -rf x") })/'"##,
    r##"ruby -e 'p 1 if "a" =~ /#{system("rm -rf x")}/'"##,
    r##"python3 -c 'f"{ 1 if "a" else __import__("os").system("rm -rf x") }"'"##,
    r##"python3 -c 'import os; spawnl=0; os.spawnl(os.P_WAIT, "/bin/rm", "rm", "-rf", "x")'"##,
    r##"node -e '[]["filter"]["constructor"]("x")()'"##,
    r##"node -e 'fs["unlinkSync"]("x")'"##,
    r##"php -r '"system"("rm -rf x");'"##,
    r##"php -r '$f="system"; $f("rm -rf x");'"##,
    r##"ruby -e '{"x"=>"code"}.select(&:"instance_eval")'"##,
    r##"perl -e 'X->$m("a")'"##,
    r##"node -e "(1) /* ' */; require('child_process').execSync('rm -rf x') // '"##,
    r##"node -e "if(1) /'/; fs.rmSync('x') //'"##,
    r##"node -e "/[/']/; fs.rmSync('x'); //'"##,
    r##"node -e 'i++ /2; fs.rmSync("x"); 1/3'"##,
    r##"node -e 'if(1) /b // 1; fs.rmSync("x")'"##,
    r##"node -e "1 <!-- '␤fs.rmSync('x') //'"##,
    r##"node -e '`${"}`"}`; fs.rmSync("x"); ""'"##,
    r##"php -r "/* ' */ system('rm -rf x'); // '"##,
    r##"php -r "// ?> ' <?php system('rm -rf x'); // '"##,
    r##"php -r 'echo "{$a[system("rm -rf x")]}";'"##,
    r##"perl -e 'print $"; system(q(rm -rf x)); print $"'"##,
    r##"perl -e 'print $/; system(q(rm -rf x)); print $/'"##,
    r##"perl -e "\$a'b; system(q(rm -rf x)); #'"##,
    r##"perl -e 'print "$a[system(q(rm -rf x))]"'"##,
    r##"perl -e "print <<X;␤'␤X␤system(q(rm -rf x)); #'"##,
    r##"ruby -e "p %i('); system(%q(rm -rf x)); %i(')"##,
    r##"ruby -e "=begin␤'␤=end␤system('rm -rf x') #'"##,
    r##"ruby -e 'p "#{%q(})}"; p "#{'"'"'}"'"'"}"; system("rm -rf x")'"##,
    r##"python3 -c 't"{__import__(1)}"'"##,
    r##"python3 -c "f'{f\"{f\'\'\'{__import__(1)}\'\'\'}\"}'"##,
    r##"node -e '.a.rmSync "x",{recursive:true}'"##,
    r##"python3 -c 'import a'"##,
    r##"python3 -c 'open("x", *["w"])'"##,
];

#[test]
fn hidden_code_is_not_harmless() {
    for command in HIDDEN {
        let command = command.replace('␤', "\n");
        assert!(tier(&command) >= 2, "{command}\n{}", reasons(&command));
    }
}
