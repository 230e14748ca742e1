#!/bin/bash
# SPDX-License-Identifier: MIT
# The names of the kernel that the headers provide to drivers besides NDKPI: docs/ndk-names.md lists them all.
# usage: names.sh list     print the page as the headers are
#        names.sh update   write it
#        names.sh check    fail where it is another one
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
export LC_ALL=C
page=docs/ndk-names.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
parts=(ndk/include/ndkwdm/*.h
    compat/include/wincompat/{devioctl,interlocked,interlocked_forms,ip_text,luid,native,pragma,seh_blocks}.h)

list() {
    cat <<'TEXT'
# Names that drivers find
Made by `ndk/names.sh update` from the headers of [ndk.md](ndk.md); do not edit. What a function takes and returns here
is in its header. Besides these there are NDKPI itself ([compatibility.md](compatibility.md), "NDKPI"), the base types,
status codes and GUIDs, and all annotations of SAL's second kind ([windows-names.md](windows-names.md), "sal").
TEXT
    for part in "${parts[@]}"; do
        PART=$part perl -0777 -ne '
            my ($about) = m{/\*[\s*]*\w+\.h - (.*?)\*/}s;
            $about =~ s/\n \* ?\n.*//s;
            $about =~ s/\s*\n \* */ /g;
            $about =~ s/, a part of ndkwdm\.h//;
            $about =~ s/\s+$//;
            s{/\*.*?\*/}{ }gs;
            s/^extern "C" \{$//gm;
            s/DECLSPEC_ALIGN\(\d+\)//g;
            s/\\\n/ /g;
            my (%functions, %types, %constants);
            for my $macro (/^\h*#define\h+(\w+(?:\(|))/gm) {
                next if $macro =~ /^(?:NDKWDM_|WINCOMPAT_|Ndkwdm)/;
                if ($macro =~ s/\($//) { $functions{$macro} = 1 }
                elsif ($macro =~ /[a-z]/) { $functions{$macro} = 1 }
                else { $constants{$macro} = 1 }
            }
            my %orders = (WINCOMPAT_ORDERED => ["Read%sAcquire", "Read%sNoFence", "Write%sRelease", "Write%sNoFence"],
                WINCOMPAT_INTERLOCKED_8 => ["Interlocked%s8"], WINCOMPAT_INTERLOCKED_16 => ["Interlocked%s16"]);
            while (/^(WINCOMPAT_\w+)\((\w*), \w+\)$/gm) {
                $functions{sprintf $_, $2} = 1 for @{ $orders{$1} || [] };
            }
            s/^\h*#.*$//gm;
            while (/\btypedef\b(?:[^;{]|\{(?:[^{}]|\{[^{}]*\})*\})*;/gs) {
                my $text = $&;
                if ($text =~ /^typedef enum\b[^{]*\{(.*)\}/s) {
                    my $list = $1;
                    $constants{$_} = 1 for $list =~ /(\w+)(?:\s*=[^,]*)?(?:,|\s*$)/g;
                }
                1 while $text =~ s/\{[^{}]*\}//s;
                if ($text =~ /\(\*?\s*(\w+)\)\(/ or $text =~ /^typedef[^(]*?(\w+)\(/) { $types{$1} = 1; next }
                $text =~ s/^typedef\s+(?:const\s+)?(?:struct|union|enum)?\s*(?:DECLSPEC_ALIGN\(\d+\)\s*)?\w+\s*//;
                $types{$_} = 1 for grep { !/^(?:const|void|unsigned|char|int)$/ } $text =~ /\b([A-Z]\w+)\b/g;
            }
            1 while s/\{[^{}]*\}//s;
            while (/^(?:static inline )?(?!typedef)[A-Z]\w+[ \*]+(\w+)\(/gm) {
                $functions{$1} = 1 if $1 !~ /^(?:Ndkwdm|WINCOMPAT)/;
            }
            my ($name) = $ENV{PART} =~ m{(\w+)\.h$};
            exit if !%functions && !%types && !%constants; # its names are in another part
            print "\n## $name\n\u$about\n\n";
            for (["functions", \%functions], ["types", \%types], ["constants", \%constants]) {
                my ($title, $names) = @$_;
                my $line = "- **$title**:";
                next if !%$names;
                my @sorted = sort keys %$names;
                for my $i (0 .. $#sorted) {
                    my $word = " `$sorted[$i]`" . ($i < $#sorted ? "," : "");
                    if (length($line) + length($word) > 118) { print "$line\n"; $line = " " }
                    $line .= $word;
                }
                print "$line\n";
            }' "$part"
    done | sed -E 's/ +$//' | fold -sw 119 | sed -E 's/ +$//'
}

case ${1:-} in
list) list ;;
update) list > "$page" ;;
check)
    list > "$scratch/page"
    [ "$(grep -o '`' "$scratch/page" | wc -l)" -gt 800 ] || { echo "the headers were not read"; exit 1; }
    diff -u --label "$page" --label "made from the headers" "$page" "$scratch/page" && exit
    echo "run ndk/names.sh update"
    exit 1
    ;;
*) echo "names.sh: list, update or check" >&2; exit 2 ;;
esac
