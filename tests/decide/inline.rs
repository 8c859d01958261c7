//! Code inside a command line: the files that it may open, write or remove.

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

/// Code that writes, moves or removes below `/srv/kept`, by a name or by one that the code makes.
const CHANGING: &[&str] = &[
    // Python: literal names.
    r#"python3 -c "open('/srv/kept/x','w')""#,
    r#"python3 -c "open('/srv/kept/x', 'a').write('y')""#,
    r#"python3 -c "open('/srv/kept/x', mode='x')""#,
    r#"python3 -c "open('/srv/kept/x', 'r+').truncate(0)""#,
    r#"python3 -c "open('/srv/kept/x', encoding='utf8', mode='wb')""#,
    r#"python3 -c "open(file='/srv/kept/x', mode='w')""#,
    r#"python3 -c "open(r'/srv/kept/x', 'w')""#,
    r#"python3 -c "p='/srv/kept/x'; open(p, 'w').write('a')""#,
    r#"python3 -c "import io; io.open('/srv/kept/x', 'w')""#,
    r#"python3 -c "import codecs; codecs.open('/srv/kept/x', 'w', 'utf8')""#,
    r#"python3 -c "import gzip; gzip.open('/srv/kept/x.gz', 'wb').write(b'a')""#,
    r#"python3 -c "import os; os.open('/srv/kept/x', os.O_WRONLY | os.O_CREAT)""#,
    r#"python3 -c "import os; os.open('/srv/kept/x', 577)""#,
    r#"python3 -c "from pathlib import Path; Path('/srv/kept/x').write_text('a')""#,
    r#"python3 -c "import pathlib; pathlib.Path('/srv/kept/x').write_bytes(b'a')""#,
    r#"python3 -c "from pathlib import Path; Path('/srv/kept/x').touch()""#,
    r#"python3 -c "from pathlib import Path; Path('/srv/kept/x').mkdir()""#,
    r#"python3 -c "from pathlib import Path; Path('/srv/kept/x').open('w').write('a')""#,
    r#"python3 -c "from pathlib import Path; Path('a').rename('/srv/kept/x')""#,
    r#"python3 -c "from pathlib import Path; Path('/srv/kept/x').unlink()""#,
    r#"python3 -c "import shutil; shutil.copy('a', '/srv/kept/x')""#,
    r#"python3 -c "import shutil; shutil.move('a', '/srv/kept/x')""#,
    r#"python3 -c "import shutil; shutil.move('/srv/kept/x', 'a')""#,
    r#"python3 -c "import shutil; shutil.rmtree('/srv/kept')""#,
    r#"python3 -c "import os; os.remove('/srv/kept/x')""#,
    r#"python3 -c "import os; os.unlink('/srv/kept/x')""#,
    r#"python3 -c "import os; os.rmdir('/srv/kept/x')""#,
    r#"python3 -c "from os import remove; remove('/srv/kept/x')""#,
    r#"python3 -c "import os; os.rename('a', '/srv/kept/x')""#,
    r#"python3 -c "import os; os.replace('/srv/kept/x', 'a')""#,
    r#"python3 -c "import os; os.link('a', '/srv/kept/x')""#,
    r#"python3 -c "import os; os.symlink('a', '/srv/kept/x')""#,
    r#"python3 -c "import os; os.mkdir('/srv/kept/x')""#,
    r#"python3 -c "import os; os.makedirs('/srv/kept/x', exist_ok=True)""#,
    r#"python3 -c "import os; os.truncate('/srv/kept/x', 0)""#,
    r#"python3 -c "import zipfile; zipfile.ZipFile('/srv/kept/x.zip', 'w')""#,
    r#"python3 -c "import json; json.dump({}, open('/srv/kept/x.json', 'w'))""#,
    r#"python3 -c "import sqlite3; sqlite3.connect('/srv/kept/x.db')""#,
    "python3 - <<'END'\nwith open('/srv/kept/x', 'w') as f:\n    f.write('a')\nEND",
    r#"echo "open('/srv/kept/x','w')" | python3"#,
    // Python: names that the code makes, and other ways to the same function.
    r#"python3 -c "open('/srv/'+'kept/x', 'w')""#,
    r#"python3 -c "open(chr(47)+'srv/kept/x', 'w')""#,
    r#"python3 -c "import sys; open(sys.argv[1], 'w')" /srv/kept/x"#,
    r#"python3 -c "m='w'; open('/srv/kept/x', m)""#,
    r#"python3 -c "open('/srv/kept/x', 'r' + '+')""#,
    r#"python3 -c "open(*['/srv/kept/x', 'w'])""#,
    r#"python3 -c "f=open; f('/srv/kept/x', 'w')""#,
    r#"python3 -c "from io import open as o; o('/srv/kept/x', 'w')""#,
    r#"python3 -c "import os as o; o.mkdir('/srv/kept/x')""#,
    r#"python3 -c "import os; os.chdir('/srv/kept'); open('x', 'w')""#,
    r#"python3 -c "import os; p='/srv/'; os.mkdir(p + 'kept/x')""#,
    r#"python3 -c "exec('op'+'en(\'/srv/kept/x\', \'w\')')""#,
    r#"python3 -c "getattr(__builtins__, 'op'+'en')('/srv/kept/x', 'w')""#,
    r#"python3 -c "__import__('os').system('touch /srv/kept/x')""#,
    r#"python3 -c "import subprocess; subprocess.run(['touch', '/srv/kept/x'])""#,
    r#"python3 -c "from pathlib import Path; (Path('/srv') / 'kept' / 'x').write_text('a')""#,
    r#"python3 -c "from pathlib import Path; p = Path('/srv/kept/x'); p.write_text('a')""#,
    r#"python3 -c "import logging; logging.basicConfig(filename='/srv/kept/x')""#,
    // Node.js, Deno, Bun.
    r#"node -e "require('fs').writeFileSync('/srv/kept/x', 'a')""#,
    r#"node -e "fs.appendFileSync('/srv/kept/x', 'a')""#,
    r#"node -e "require('fs').promises.writeFile('/srv/kept/x', 'a')""#,
    r#"node -e "fs.createWriteStream('/srv/kept/x').end('a')""#,
    r#"node -e "fs.openSync('/srv/kept/x', 'w')""#,
    r#"node -e "fs.mkdirSync('/srv/kept/x', {recursive: true})""#,
    r#"node -e "fs.copyFileSync('a', '/srv/kept/x')""#,
    r#"node -e "fs.renameSync('/srv/kept/x', 'a')""#,
    r#"node -e "fs.symlinkSync('a', '/srv/kept/x')""#,
    r#"node -e "fs.unlinkSync('/srv/kept/x')""#,
    r#"node -e "fs.rmSync('/srv/kept', {recursive: true})""#,
    r#"node -e "fs.rmdirSync('/srv/kept/x')""#,
    r#"node -e "const {writeFileSync: w}=require('fs'); w('/srv/kept/x','a')""#,
    r#"node -e "require('fs')['write'+'FileSync']('/srv/kept/x', 'a')""#,
    r#"node -e "fs.writeFileSync('/srv/' + 'kept/x', 'a')""#,
    r#"node -e "fs.writeFileSync(process.argv[1], 'a')" /srv/kept/x"#,
    r#"node -e "eval('fs.write'+'FileSync(\'/srv/kept/x\',1)')""#,
    r#"node -e "require('child_process').execSync('touch /srv/kept/x')""#,
    r#"deno eval "Deno.writeTextFileSync('/srv/kept/x', 'a')""#,
    r#"deno eval "Deno.removeSync('/srv/kept/x')""#,
    r#"bun -e "await Bun.write('/srv/kept/x', 'a')""#,
    // Ruby
    r#"ruby -e 'File.write("/srv/kept/x", "a")'"#,
    r#"ruby -e 'File.open("/srv/kept/x", "w") { |f| f.puts 1 }'"#,
    r#"ruby -e 'File.new("/srv/kept/x", "w")'"#,
    r#"ruby -e 'IO.write("/srv/kept/x", "a")'"#,
    r#"ruby -e 'open("/srv/kept/x", "a") { |f| f << 1 }'"#,
    r#"ruby -e 'File.delete("a", "/srv/kept/x")'"#,
    r#"ruby -e 'File.rename("a", "/srv/kept/x")'"#,
    r#"ruby -e 'Dir.mkdir("/srv/kept/x")'"#,
    r#"ruby -rfileutils -e 'FileUtils.touch "/srv/kept/x"'"#,
    r#"ruby -rfileutils -e 'FileUtils.cp("a", "/srv/kept/x")'"#,
    r#"ruby -rfileutils -e 'FileUtils.rm("/srv/kept/x")'"#,
    r#"ruby -rfileutils -e 'FileUtils.rm_rf("/srv/kept")'"#,
    r#"ruby -e 'File.write("/srv/" + "kept/x", "a")'"#,
    r#"ruby -e 'f = File; f.write("/srv/kept/x", "a")'"#,
    r#"ruby -e 'File.send(:write, "/srv/kept/x", "a")'"#,
    r#"ruby -e 'open("|touch /srv/kept/x")'"#,
    r#"ruby -e 'File::new("/srv/kept/x", "w")'"#,
    r#"ruby -e 'f = File; f.new("/srv/kept/x", "w")'"#,
    r#"ruby -e '$stdout.reopen("/srv/kept/x"); puts 1'"#,
    // Perl
    r#"perl -e 'open(F, ">/srv/kept/x"); print F 1'"#,
    r#"perl -e 'open(my $f, ">", "/srv/kept/x") or die'"#,
    r#"perl -e 'open(my $f, ">>", "/srv/kept/x"); print $f 1'"#,
    r#"perl -e 'open F, "+<", "/srv/kept/x"'"#,
    r#"perl -e 'unlink "/srv/kept/x"'"#,
    r#"perl -e 'unlink("a", "/srv/kept/x")'"#,
    r#"perl -e 'rename "a", "/srv/kept/x" or die'"#,
    r#"perl -e 'mkdir "/srv/kept/x"'"#,
    r#"perl -e 'rmdir "/srv/kept/x"'"#,
    r#"perl -e 'symlink "a", "/srv/kept/x"'"#,
    r#"perl -e '$f="/srv/"."kept/x"; open(F, ">", $f)'"#,
    r#"perl -e 'open(F, "| tee /srv/kept/x")'"#,
    r#"perl -e 'system("touch /srv/kept/x")'"#,
    r#"perl -MFile::Copy -e 'copy("a", "/srv/kept/x")'"#,
    // PHP
    r#"php -r 'file_put_contents("/srv/kept/x", "a");'"#,
    r#"php -r 'fopen("/srv/kept/x", "w");'"#,
    r#"php -r 'touch("/srv/kept/x");'"#,
    r#"php -r 'mkdir("/srv/kept/x");'"#,
    r#"php -r 'copy("a", "/srv/kept/x");'"#,
    r#"php -r 'rename("/srv/kept/x", "a");'"#,
    r#"php -r 'unlink("/srv/kept/x");'"#,
    r#"php -r 'rmdir("/srv/kept/x");'"#,
    r#"php -r 'error_log("a", 3, "/srv/kept/x");'"#,
    r#"php -r 'file_put_contents($argv[1], "a");' /srv/kept/x"#,
    r#"php -r '$f="file_put_contents"; $f("/srv/kept/x", "a");'"#,
    r#"php -r 'array_map("unlink", ["/srv/kept/x"]);'"#,
    // awk
    r#"awk 'BEGIN{print "a" > "/srv/kept/x"}'"#,
    "awk 'BEGIN{print \"a\",\n\"b\" > \"/srv/kept/x\"}'",
    r#"awk 'BEGIN{printf "a" >> "/srv/kept/x"}'"#,
    r#"awk 'BEGIN{f="/srv/" "kept/x"; print "a" > f}'"#,
    r#"awk 'BEGIN{print "a" > "\057srv/kept/x"}'"#,
    r#"awk -v f=/srv/kept/x 'BEGIN{print "a" > f}'"#,
    r#"awk 'BEGIN{print "a" | "tee /srv/kept/x"}'"#,
    r#"awk 'BEGIN{system("touch /srv/" "kept/x")}'"#,
    // Languages that are not read.
    r#"lua -e 'io.open("/srv/kept/x", "w")'"#,
    r#"lua -e 'os.remove("/srv/kept/x")'"#,
    r#"Rscript -e 'writeLines("a", "/srv/kept/x")'"#,
    r#"pwsh -Command '"a" > /srv/kept/x'"#,
    r#"pwsh -Command 'Set-Content /srv/kept/x a'"#,
    r#"julia -e 'write("/srv/kept/x", "a")'"#,
];

/// Code that changes nothing below `/srv/kept`: it computes, reads, or writes elsewhere.
const ELSEWHERE: &[&str] = &[
    r#"python3 -c "open('out.txt', 'w').write('a')""#,
    r#"python3 -c "open('/srv/kept/x')""#,
    r#"python3 -c "print(open('/srv/kept/x', 'rb').read())""#,
    r#"python3 -c "import os; os.open('/srv/kept/x', os.O_RDONLY)""#,
    "python3 - <<'END'\nimport json\nwith open('a.json') as f:\n    d = json.load(f)\nwith open('b.json', 'w') as f:\n    json.dump(d, f, indent=2)\nEND",
    r#"python3 -c "import json; json.dump({'a': 1}, open('out.json', 'w'), indent=2)""#,
    r#"python3 -c "import os; os.makedirs('build/out', exist_ok=True)""#,
    r#"python3 -c "import os; os.remove('out.txt')""#,
    r#"python3 -c "import os; os.rename('a.txt', 'b.txt')""#,
    r#"python3 -c "import shutil; shutil.copy('a.txt', 'b.txt')""#,
    r#"python3 -c "import shutil; print(shutil.which('git'))""#,
    r#"python3 -c "from pathlib import Path; Path('out.txt').write_text('a')""#,
    r#"python3 -c "from pathlib import Path; Path('out').mkdir(exist_ok=True)""#,
    r#"python3 -c "l = [1, 2]; l.append(3); l.insert(0, 4); print(l)""#,
    r#"python3 -c "import subprocess; subprocess.run(['git', 'status'])""#,
    r#"python3 -c "import gzip; print(gzip.open('a.gz').read())""#,
    r#"node -e "require('fs').writeFileSync('out.txt', 'a')""#,
    r#"node -e "fs.mkdirSync('build', {recursive: true})""#,
    r#"node -e "const p='out.json'; fs.writeFileSync(p, JSON.stringify({a: 1}))""#,
    r#"node -e "process.stdout.write('a')""#,
    r#"node -e "fs.unlinkSync('out.txt')""#,
    r#"node -e "fs.readFile('a.txt', 'utf8', (e, d) => console.log(d))""#,
    r#"node -e "require('child_process').execSync('git status')""#,
    r#"ruby -e 'File.write("out.txt", "a")'"#,
    r#"ruby -e 'File.open("out.txt", "w") { |f| f.puts 1 }'"#,
    r#"ruby -e 'File.open("/srv/kept/x") { |f| puts f.read }'"#,
    r#"ruby -e 'File.delete("out.txt")'"#,
    r#"ruby -e 'puts "abc".delete("a")'"#,
    r#"perl -e 'open(F, ">", "out.txt"); print F 1'"#,
    r#"perl -e 'open(F, "<", "/srv/kept/x"); print <F>'"#,
    r#"perl -e 'unlink "out.txt"'"#,
    r#"perl -e 'mkdir "build" or die'"#,
    r#"php -r 'file_put_contents("out.txt", "a");'"#,
    r#"php -r 'fwrite(fopen("php://stderr", "w"), "a");'"#,
    r#"php -r 'echo file_get_contents("/srv/kept/x");'"#,
    r#"awk '{print $1 > "out.txt"}' f"#,
    r#"awk 'BEGIN{print "a" > "/dev/stderr"}'"#,
    r#"lua -e 'io.write("a")'"#,
];

#[test]
fn code_that_may_change_a_file_is_denied() {
    let policy = r#"policy open {
        deny no-changes { writes "/srv/kept/**" }
        deny no-removals { removes "/srv/kept/**" "/srv/kept" }
    }"#;
    let judged = Judged::of(policy);
    let mut missed = Vec::new();
    for command in CHANGING {
        let told = judged.told(ANYONE, command);
        if !matches!(told.as_str(), "deny policy.no-changes" | "deny policy.no-removals") {
            missed.push(format!("{command} -> {told}"));
        }
    }
    assert!(CHANGING.len() >= 80, "{}", CHANGING.len());
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn code_that_changes_other_files_is_allowed() {
    let judged = Judged::of(
        r#"policy open { deny no-changes { writes "/srv/kept/**" }; deny no-removals { removes "/srv/kept/**" } }"#,
    );
    let mut denied = Vec::new();
    for command in ELSEWHERE.iter().chain(HARMLESS) {
        let told = judged.told(ANYONE, command);
        if !told.starts_with("allow ") {
            denied.push(format!("{command} -> {told}"));
        }
    }
    assert!(ELSEWHERE.len() >= 30, "{}", ELSEWHERE.len());
    assert!(denied.is_empty(), "{}", denied.join("\n"));
}

#[test]
fn code_that_may_give_a_file_another_mode_is_denied() {
    let judged = Judged::of(r#"policy open { deny no-modes { changes "/srv/kept/**" } }"#);
    for command in [
        r#"python3 -c "import os; os.chmod('/srv/kept/x', 0o777)""#,
        r#"python3 -c "import os, sys; os.chown(sys.argv[1], 0, 0)""#,
        r#"node -e "fs.chmodSync('/srv/kept/x', 0o777)""#,
        r#"ruby -e 'File.chmod(0777, "a", "/srv/kept/x")'"#,
        r#"perl -e 'chmod 0777, "/srv/kept/x"'"#,
        r#"php -r 'chmod("/srv/kept/x", 0777);'"#,
    ] {
        assert_eq!(judged.told(ANYONE, command), "deny policy.no-modes", "{command}");
    }
    let elsewhere = r#"python3 -c "import os; os.chmod('run.sh', 0o755)""#;
    assert!(judged.told(ANYONE, elsewhere).starts_with("allow "));
}

#[test]
fn a_literal_removal_has_the_tier_of_its_path() {
    let judged = Judged::of("policy open");
    let tier = |command: &str| judged.command(ANYONE, command).tier as u8;
    assert_eq!(tier(r#"python3 -c "import os; os.remove('/etc/hosts')""#), 3);
    assert_eq!(tier(r#"python3 -c "import os; os.remove('out.txt')""#), 2);
    assert_eq!(tier(r#"python3 -c "import os, sys; os.remove(sys.argv[1])""#), 2);
}
