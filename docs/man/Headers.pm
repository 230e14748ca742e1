# SPDX-License-Identifier: MIT
# Reads a header: what it declares, in its order, each with the comment above it.
#
#   read_header(PATH)  { file, preface => [line...], items => [item...], parts => [[TITLE, line...]...] }
#
# An item is one of
#   { kind => 'interface', name, base, comment, methods => [{ name, result, parameters => [...], comment }...] }
#   { kind => 'function' or 'callback', name, result, parameters => [...], comment, section }
#   { kind => 'structure' or 'enum', name, text, members, comment }
#   { kind => 'constants', members, comment }
#   { kind => 'alias', name, of }, another name of a type
# A comment that begins with a rule of "=" begins a part of the header: its title, and what holds for all that follows;
# items have the part as `part`. Comments are lists of lines. Members are [declaration, comment, value] or, between
# them, [undef, remark].
package Headers;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT_OK = qw(read_header text_of);

sub text_of {
    my ($path) = @_;
    open my $in, '<', $path or die "$path: $!\n";
    return do { local $/; <$in> };
}

# The lines of a comment without its frame.
sub comment_lines {
    my ($comment) = @_;
    my @lines = map { s/^\s*\* ?//r =~ s/\s+$//r } split /\n/, $comment;
    shift @lines while @lines && $lines[0] eq '';
    pop @lines while @lines && $lines[-1] eq '';
    $lines[0] =~ s/^ // if @lines;
    return \@lines;
}

sub one_line {
    my ($text) = @_;
    return $text =~ s/\s+/ /gr =~ s/^ //r =~ s/ $//r;
}

sub parameters_of {
    my ($text) = @_;
    $text = one_line($text);
    return [grep { !/^(?:void|VOID)?$/ } split /, /, $text];
}

sub methods_of {
    my ($body) = @_;
    my ($comment, @methods) = ([]);
    while ($body =~ m{/\*(.*?)\*/|IFACEMETHOD(_?)\((?:([^,()]+), )?(\w+)\)\s*\((.*?)\) PURE;|(\w+_METHODS_)}gs) {
        if (defined $1) {
            $comment = comment_lines($1);
        } elsif (defined $4) {
            my ($result, $name, $parameters) = ($2 ? $3 : 'HRESULT', $4, $5);
            $parameters = parameters_of($parameters =~ s/^THIS_?\s*//r);
            push @methods, { result => $result, name => $name, parameters => $parameters, comment => $comment };
            $comment = [];
        }
    }
    return \@methods;
}

# Of a structure or an enum. A comment belongs to the declaration in whose line it stands, else to those that follow.
sub members_of {
    my ($body, $end) = @_;
    my ($line_begins, @members) = (1);
    while ($body =~ m{\G(?:(\s+)|/\*(.*?)\*/|((?:[^/;,\{\}]|$end(?=\S)|,|\{.*?\})+?)\s*(?:$end|$))}gcs) {
        my ($space, $comment, $declaration) = ($1, $2, $3);
        if (defined $space) {
            $line_begins ||= $space =~ /\n/;
        } elsif (defined $comment) {
            my $text = join ' ', @{ comment_lines($comment) };
            if ($line_begins) {
                push @members, [undef, $text];
            } else {
                $members[-1][1] = $text;
            }
        } else {
            push @members, [one_line($declaration), ''];
            $line_begins = 0;
        }
    }
    return \@members;
}

# A macro with a value, and what stands behind it.
sub constant_of {
    my ($line) = @_;
    $line =~ s/\\\n\s*//g;
    my ($name, $value) = $line =~ /^#define (\w+)\s+(\S.*?)\s*$/ or return;
    my $remark = $value =~ s{\s*/\*\s*(.*?)\s*\*/$}{} ? $1 : '';
    return if $name eq 'INTERFACE' || $value =~ /^__\w+$/ || $name =~ /_METHODS_$/;
    return [$name, $remark, $value];
}

sub function_of {
    my ($text) = @_;
    my ($result, $name, $parameters) = one_line($text) =~ /^(.*?)\b(\w+)\((.*)\)$/ or return;
    $result =~ s/\b(?:SRD_API|WINOBJ_API|ND_HELPER_API|__stdcall|STDAPI)\b ?//g;
    $result =~ s/ $//;
    return { kind => 'function', name => $name, result => $result, parameters => parameters_of($parameters) };
}

sub typedef_of {
    my ($text) = @_;
    return { kind => 'alias', name => $2, of => $1 } if $text =~ /^typedef (\w+) (\w+);$/;
    my ($result, $name, $parameters) = one_line($text) =~ /^typedef (.*?)\(\*(\w+)\)\((.*)\);$/ or return;
    return { kind => 'callback', name => $name, result => $result =~ s/ $//r, text => $text,
        parameters => parameters_of($parameters) };
}

sub structure_of {
    my ($keyword, $tag, $body, $names, $text) = @_;
    my ($name) = $names =~ /(\w+)/;
    $tag =~ s/^_//;
    return {
        kind => $keyword eq 'enum' ? ($name // $tag) eq '' ? 'constants' : 'enum' : 'structure',
        name => $name // $tag, text => $text,
        members => members_of($body, $keyword eq 'enum' ? ',' : ';'),
    };
}

# What begins at a place of the text: an item; 'skip' what means nothing and leaves the comment to what follows.
sub next_item {
    my ($text) = @_;
    for ($$text) {
        return constant_of($1) // 'skip' if /\G(#define (?:[^\n]*\\\n)*[^\n]*)\n/gc;
        return 'skip' if /\G#(?:[^\n]*\\\n)*[^\n]*\n/gc;
        if (/\GDECLARE_INTERFACE_\((\w+), (\w+)\)\s*\{(.*?)^\};/gcms) {
            return { kind => 'interface', name => $1, base => $2, methods => methods_of($3) };
        }
        if (/\G((?:typedef )?(struct|union|enum) ?(\w*) \{([^\n{}]*|.*?^)\}([^;]*);)/gcms) {
            return structure_of($2, $3, $4, $5, $1);
        }
        return 'skip' if /\G(?:extern "C" \{|DEFINE_GUID\([^;]*;)\n/gc;
        return typedef_of($1) if /\G(typedef\b[^;]*;)/gcs;
        return function_of($1) if /\G([A-Za-z_][^;{}#]*?\([^;{}]*\));/gcs;
        /\G[^\n]*\n?/gc;
        return;
    }
}

sub read_header {
    my ($path) = @_;
    my $text = text_of($path);
    my ($file) = $path =~ m{([^/]+)$};
    my %header = (file => $file, items => []);
    my ($comment, $section, $part) = ([], '');

    while ((pos($text) // 0) < length $text) {
        if ($text =~ m{\G\s*?/\*(.*?)\*/[ \t]*\n?}gcs) {
            my $lines = comment_lines($1);
            next if "@$lines" =~ /^clang-format|^SPDX/;
            $header{preface} //= $lines if "@$lines" =~ /^\Q$file\E - /;
            if ($lines->[0] =~ /^=+$/) {
                push @{ $header{parts} }, $part = [@$lines[1 .. $#$lines]];
                next;
            }
            $section = $lines->[0] if "@$lines" =~ /^[a-z ]+$/;
            $comment = $lines;
            next;
        } elsif ($text =~ /\G[ \t]*\n/gc) {
            $comment = [];
            next;
        }
        my $item = next_item(\$text);
        next if defined $item && !ref $item;
        if (ref $item eq 'ARRAY') {
            my $last = $header{items}[-1];
            push @{ $header{items} }, $last = { kind => 'constants', name => '', members => [], comment => $comment }
                unless $last && $last->{kind} eq 'constants' && !$last->{text} && !@$comment;
            push @{ $last->{members} }, $item;
        } elsif ($item) {
            push @{ $header{items} }, { comment => $comment, section => $section, part => $part, file => $file,
                %$item };
        }
        $comment = [];
    }
    $header{preface} // die "$path: no comment \"$file - ...\"\n";
    return \%header;
}

1;
