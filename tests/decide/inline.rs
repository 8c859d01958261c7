//! Code inside a command line: the files that it may open.

use super::{Judged, Who};

const ANYONE: Who<'_> = ("", "");

const RULE: &str = "no-secret-reads";

/// Code that reads a secret, by its name or by one that the code makes.
const READING: &[&str] = &[
    // Python: literal names.
    r#"python3 -c "print(open('.env').read())""#,
    r#"python3 -c 'print(open("/home/u/.ssh/id_rsa").read())'"#,
    r#"python3 -c "import io; print(io.open('.env').read())""#,
    r#"python3 -c "import os; print(os.read(os.open('.env', 0), 99))""#,
    r#"python3 -c "import codecs; print(codecs.open('.env', 'r', 'utf8').read())""#,
    r#"python3 -c "from pathlib import Path; print(Path('.env').read_text())""#,
    r#"python3 -c "print(*open(r'.env'))""#,
    r#"python3 -c "p='.env'; print(open(p).read())""#,
    r#"python3 - <<< "print(open('/home/u/.ssh/id_rsa').read())""#,
    "python3 - <<'END'\nwith open('.env') as f:\n    print(f.read())\nEND",
    r#"echo "print(open('.env').read())" | python3"#,
    "cat > a.py <<'END'\nprint(open('.env').read())\nEND\npython3 a.py",
    // Python: names that the code makes.
    r#"python3 -c "print(open(chr(46)+'env').read())""#,
    r#"python3 -c "print(open('.e'+'nv').read())""#,
    r#"python3 -c "print(open('.e' 'nv').read())""#,
    r#"python3 -c "print(open('\x2eenv').read())""#,
    r#"python3 -c "import base64; print(open(base64.b64decode('LmVudg==')).read())""#,
    r#"python3 -c "x='env'; print(open(f'.{x}').read())""#,
    r#"python3 -c "print(open('.%s' % 'env').read())""#,
    r#"python3 -c "print(open('vne.'[::-1]).read())""#,
    r#"python3 -c "print(open(bytes([46,101,110,118])).read())""#,
    r#"python3 -c "import glob; print([open(f).read() for f in glob.glob('.e*')])""#,
    r#"python3 -c "import os; print([open(f).read() for f in os.listdir('.')])""#,
    r#"python3 -c "from pathlib import Path; print([p.read_text() for p in Path('.').glob('.e*')])""#,
    r#"python3 -c "from pathlib import Path; print((Path('.')/'.env').read_text())""#,
    r#"python3 -c "import sys; print(open(sys.argv[1]).read())" .env"#,
    r#"python3 -c "p='a'; p='.env'; print(open(p).read())""#,
    r#"python3 -c "p='a'; print([open(p).read() for i,p in [(1,'.env')]])""#,
    r#"python3 -c "p='a'; (p,q)=('.env',1); print(open(p).read())""#,
    // Python: other ways to the same function.
    "python3 -c 'import os\nfor f in os, open: print(f(\".env\"))'",
    r#"python3 -c "print(open(min('.env', 'w')).read())""#,
    r#"python3 -c "import os; f='.e'+'nv'; os.execlp('cat', 'cat', f)""#,
    r#"python3 -c "print(__import__('io').open('.env').read())""#,
    r#"python3 -c "print(getattr(__builtins__, 'op'+'en')('.env').read())""#,
    r#"python3 -c "print(__builtins__.__dict__['open']('.env').read())""#,
    r#"python3 -c "f=open; print(f('.env').read())""#,
    r#"python3 -c "print(list(map(open, ['.env'])))""#,
    r#"python3 -c "from io import open as o; print(o('.env').read())""#,
    r#"python3 -c "exec('print(o'+'pen(\'.env\').read())')""#,
    r#"python3 -c "import linecache; print(linecache.getlines('.env'))""#,
    r#"python3 -c "import fileinput; print(list(fileinput.input('.env')))""#,
    r#"python3 -c "import shutil; shutil.copy('.env', 'a')""#,
    r#"python3 -c "import timeit; timeit.timeit('print(open(chr(46)+chr(101)).read())', number=1)""#,
    r#"python3 -c "import subprocess; subprocess.run(['cat', '.env'])""#,
    r#"python3 -c "import subprocess; p='.e'+'nv'; subprocess.run(['cat', p])""#,
    r#"python3 -c "import os; os.chdir('/home/u/.ssh'); print(open('id_rsa').read())""#,
    // Node.js
    r#"node -e "require('child_process').execSync('cat id_rsa', {cwd: '/home/u/.ssh'})""#,
    r#"node -e "console.log(require('fs').readFileSync('.env','utf8'))""#,
    r#"node -p "fs.readFileSync('.env')+''""#,
    r#"node -e "console.log(require('fs').readFileSync('.e'+'nv','utf8'))""#,
    r#"node -e "const {readFileSync}=require('fs'); console.log(readFileSync('.env','utf8'))""#,
    r#"node -e "const {readFileSync: r}=require('fs'); console.log(r('.env','utf8'))""#,
    r#"node -e "console.log(require('fs')['read'+'FileSync']('.env'))""#,
    r#"node -e "require('fs').createReadStream('.env').pipe(process.stdout)""#,
    r#"node -e "fs.readFile(String.fromCharCode(46,101,110,118),(e,d)=>console.log(d))""#,
    r#"node -e "import('fs').then(m=>console.log(m.readFileSync('.env')))""#,
    r#"node -e "Object.values(fs).find(f=>f.name=='readFileSync').call(fs,'.env')""#,
    r#"node -e "const n='a'; {const n='.env'; console.log(fs.readFileSync(n))}""#,
    r#"node -e "require('child_process').execSync('cat .env')""#,
    r#"node -p "require('/home/u/.docker/config.json')""#,
    // Ruby
    r#"ruby -e 'puts File.read ".emv".sub("m", "n")'"#,
    r#"ruby -e 'puts File.read(".env")'"#,
    r#"ruby -e 'puts File.read ".env"'"#,
    r#"ruby -e 'puts File.read(".e"+"nv")'"#,
    r#"ruby -e 'puts IO.read(".env")'"#,
    r#"ruby -e 'puts File.open(46.chr+"env").read'"#,
    r#"ruby -e 'File.foreach(".env") { |l| puts l }'"#,
    r#"ruby -e 'puts open(".env").read'"#,
    r#"ruby -e 'puts Dir.glob(".e*").map { |f| File.read(f) }'"#,
    r#"ruby -e 'f=File; puts f.read(".env")'"#,
    r#"ruby -e 'puts File.send(:read, ".env")'"#,
    r#"ruby -e 'puts `cat .env`'"#,
    // Perl
    r#"perl -e 'open(F, ".env"); print <F>'"#,
    r#"perl -e 'open F, "<", ".env"; print <F>'"#,
    r#"perl -e 'open(my $f, "<", ".env") or die; print <$f>'"#,
    r#"perl -e 'open(F, "<.env"); print <F>'"#,
    r#"perl -e '$f=chr(46)."env"; open(F, $f); print <F>'"#,
    r#"perl -e '@ARGV=(".env"); print <>'"#,
    r#"perl -e 'open(F, ".e"."nv"); print <F>'"#,
    r#"perl -e 'print `cat .env`'"#,
    r#"perl -e 'do ".env"'"#,
    // PHP
    r#"php -r 'echo file_get_contents(".env");'"#,
    r#"php -r 'readfile(".env");'"#,
    r#"php -r 'echo implode(file(".env"));'"#,
    r#"php -r 'echo file_get_contents(chr(46)."env");'"#,
    r#"php -r '$f="file_get_contents"; echo $f(".env");'"#,
    r#"php -r 'include ".env";'"#,
    r#"php -r 'echo file_get_contents("php://filter/resource=.env");'"#,
    // awk
    r#"awk 'BEGIN{while((getline l < ".env")>0) print l}'"#,
    r#"awk 'BEGIN{f=".e" "nv"; while((getline l < f)>0) print l}'"#,
    r#"awk 'BEGIN{while((getline l < "\056env")>0) print l}'"#,
    r#"awk 'BEGIN{ARGV[1]=".env"; ARGC=2} {print}'"#,
    r#"awk -v f=.env 'BEGIN{getline < f; print}'"#,
    r#"awk 'BEGIN{"cat .env" | getline l; print l}'"#,
    r#"awk 'BEGIN{c="cat .e" "nv"; c | getline l; print l}'"#,
    // Languages that are not read.
    r#"lua -e 'print(io.open(".env"):read("a"))'"#,
    r#"lua -e 'for l in io.lines(".e".."nv") do print(l) end'"#,
    r#"lua -e 'dofile(".env")'"#,
    r#"Rscript -e 'cat(readLines(".env"))'"#,
    r#"julia -e 'print(read(".env", String))'"#,
];

/// Code that surely opens no file, or opens files that are no secrets.
const HARMLESS: &[&str] = &[
    "python3 -c 'print(1+1)'",
    "python3 -c 'import sys; print(sys.version)'",
    "python3 -c 'import json; print(json.dumps({\"a\": 1}))'",
    "python3 -c 'import json,sys; print(json.load(sys.stdin)[\"a\"])'",
    "python3 -c 'import requests; print(requests.__version__)'",
    "python3 -c 'print(\"a-b\".replace(\"-\", \"_\").upper())'",
    "python3 -c 'def fib(n): return n if n < 2 else fib(n-1)+fib(n-2)\nprint(fib(10))'",
    "python3 -c 'import os; print(os.getcwd(), os.listdir(\".\"))'",
    "python3 -c 'print(open(\"data.json\").read())'",
    "python3 -c 'import json; print(json.load(open(\"data.json\"))[\"a\"])'",
    "python3 -c 'p=\"data.json\"; print(open(p).read())'",
    "python3 -c 'print(open(0).read())'",
    "python3 -c 'from pathlib import Path; print(Path(\"a.txt\").read_text())'",
    "python3 -m json.tool f",
    "node -p '1+1'",
    "node -e 'console.log(process.version)'",
    "node -p 'require(\"./package.json\").version'",
    "node -e 'console.log([1,2].map(x => x * 2))'",
    "node -e 'console.log(JSON.stringify({a: 1}))'",
    "node -e 'console.log(require(\"fs\").readFileSync(\"data.json\", \"utf8\"))'",
    "node -e 'const f=\"data.json\"; console.log(fs.readFileSync(f, \"utf8\"))'",
    "ruby -e 'puts 1'",
    "ruby -e 'puts File.read(\"data.json\")'",
    "ruby -e 'puts File.open(\"data.json\").read'",
    "ruby -e 'puts [1, 2].map { |x| x * 2 }.join(\",\")'",
    "ruby -rjson -e 'puts JSON.pretty_generate(JSON.parse(STDIN.read))'",
    "perl -e 'print 1'",
    "perl -ne 'print if /a/' f",
    "perl -pe 's/a/b/' f",
    "perl -pi -e 's/a/b/' f",
    "php -r 'echo PHP_VERSION;'",
    "php -r 'echo file_get_contents(\"data.json\");'",
    "php -r 'echo hash_file(\"md5\", \"data.json\");'",
    "awk '{print $1}' f",
    "awk -F: '{ s += $3 } END { print s }' f",
    "awk 'BEGIN { if (1 < 2) print 1 }'",
    "awk '{ getline; print }' f",
    "awk 'BEGIN { while ((getline l < \"data.txt\") > 0) print l }'",
    "lua -e 'print(1 + 1)'",
];

#[test]
fn code_that_may_read_a_secret_is_denied() {
    let judged = Judged::of(
        r#"policy open { paths { secret "**/.docker/*.json" }; deny no-secret-reads { reads secret } }"#,
    );
    let mut missed = Vec::new();
    for command in READING {
        let told = judged.told(ANYONE, command);
        if told != format!("deny policy.{RULE}") {
            missed.push(format!("{command} -> {told}"));
        }
    }
    assert!(READING.len() >= 80, "{}", READING.len());
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn code_that_opens_no_secret_runs() {
    let judged = Judged::of("policy use=workstation");
    let mut denied = Vec::new();
    for command in HARMLESS {
        let told = judged.told(ANYONE, command);
        if told.contains(RULE) {
            denied.push(format!("{command} -> {told}"));
        }
    }
    assert!(denied.is_empty(), "{}", denied.join("\n"));
}

#[test]
fn everyday_code_is_allowed() {
    let judged = Judged::of("policy open { deny no-secret-reads { reads secret } }");
    for command in HARMLESS {
        assert_eq!(judged.command(ANYONE, command).outcome.word(), "allow", "{command}");
    }
}
