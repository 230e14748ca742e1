#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Makes the manual pages of section 3 out of the comments of a header. Of ndspi.h: one page for each interface, and
# ndspi.h(3), which lists them. Of ndspi_linux.h, whose functions are each below a comment "NAME - what it
# does.": one page for each, with the structures that it takes.
# usage: interfaces.pl HEADER DATE VERSION FOLDER      writes FOLDER/NAME.3
#        interfaces.pl HEADER                          prints the names of the pages
use strict;
use warnings;

my ($header, $date, $version, $folder) = @ARGV;
my %of;       # interface: brief, text, base, methods
my @names;    # in the header's order
my $preface;  # the header's own comment
my ($file) = $header =~ m{([^/]+)$};
my %function; # function: comment, result, parameters
my %type;     # structure, or pointer to a function: its text

# ---- reading ----

# The lines of a comment without its frame.
sub comment_lines {
    my ($comment) = @_;
    $comment =~ s{^\s*/\*}{};
    $comment =~ s{\*/\s*$}{};
    my @lines = map { s/^\s*\* ?//r =~ s/\s+$//r } split /\n/, $comment;
    shift @lines while @lines && $lines[0] eq '';
    pop @lines while @lines && $lines[-1] eq '';
    $lines[0] =~ s/^ // if @lines;
    return @lines;
}

# A method's declaration: [result, name, parameter...].
sub method_of {
    my ($text) = @_;
    $text =~ s/\s+/ /g;
    $text =~ /IFACEMETHOD(_?)\((?:([^,()]+), )?(\w+)\) ?\((.*)\) PURE/ or die "not a method: $text\n";
    my ($result, $name, $parameters) = ($1 ? $2 : 'HRESULT', $3, $4);
    $parameters =~ s/^THIS_? ?//;
    return { result => $result, name => $name, parameters => [split /, /, $parameters] };
}

# Of the header that is part of ndspi_linux.h.
sub counters_text {
    my $path = $header =~ s{[^/]+$}{ndspi_counters.h}r;
    open my $in, '<', $path or die "$path: $!\n";
    return do { local $/; <$in> };
}

sub read_functions {
    my ($text) = @_;

    while ($text =~ /^(typedef struct _\w+ \{.*?^\} (\w+);|typedef [^;{]*\(\*(\w+)\)[^;{]*;)/gms) {
        $type{ $2 // $3 } = $1;
    }
    while ($text =~ m{^(/\*\n \* (\w+) - (?:(?!\*/).)*\*/)\n([^;{}#/]+?)\s*\b\2\(([^;{}]*)\);}gms) {
        my ($comment, $name, $result, $parameters) = ($1, $2, $3, $4);
        push @names, $name;
        $parameters =~ s/\s+/ /g;
        $function{$name} = { comment => $comment, result => $result, parameters => [split /, /, $parameters] };
    }
    die "$file: a function without a comment \"NAME - ...\"\n"
        if grep { !$function{$_} } $text =~ /^[A-Za-z_][^;{}#]*?\b(Nd\w+)\(/gm;
}

sub read_header {
    open my $in, '<', $header or die "$header: $!\n";
    my $text = do { local $/; <$in> };
    my ($comment, $interface) = ('', undef);

    read_functions($text . counters_text()) if $file eq 'ndspi_linux.h';
    while ($text =~ m{\G(?:(\s*/\*.*?\*/)|([^\n]*)\n?)}gcs) {
        my ($remark, $line) = ($1, $2);
        if (defined $remark) {
            $preface //= $remark if $remark =~ /ndspi\.h - /;
            $comment = $remark;
            next;
        }
        last if pos $text >= length $text;
        if ($line =~ /^#undef INTERFACE/) {
            next; # between the comment and its interface
        } elsif ($line =~ /^#define INTERFACE (\w+)/) {
            next;
        } elsif ($line =~ /^DECLARE_INTERFACE_\((\w+), (\w+)\)/) {
            push @names, $1;
            $interface = $of{$1} = { base => $2, comment => $comment, methods => [] };
        } elsif ($line =~ /^\};/) {
            $interface = undef;
        } elsif ($interface && $line =~ /IFACEMETHOD/) {
            $text =~ /\G(.*?PURE;)/gcs or die "unended method: $line\n" unless $line =~ /PURE;/;
            my $method = method_of($line . ($line =~ /PURE;/ ? '' : " $1"));
            $method->{comment} = $comment;
            push @{ $interface->{methods} }, $method;
        }
        $comment = '' if $line =~ /\S/;
    }
}

# ---- writing ----

sub escaped {
    my ($text) = @_;
    $text =~ s/\\/\\e/g;
    $text =~ s/-/\\-/g if $text =~ /^-/;
    $text =~ s/^([.'])/\\&$1/;
    return $text;
}

# Each sentence begins a line.
sub prose {
    return join "\n", map { escaped($_) } split /(?<=[a-z0-9_)A-Z][.]) (?=[A-Z0-9"])/, join ' ', @_;
}

# Parameters ("name, name  in: what"), then prose; a line "- item" begins an item.
sub body {
    my @lines = @_;
    my ($out, @items, @prose) = ('');
    my $flush = sub {
        $out .= ".Pp\n" . prose(@prose) . "\n" if @prose;
        @prose = ();
    };
    my $list = sub {
        return unless @items;
        $out .= ".Bl -tag -width Ds\n";
        $out .= '.It ' . ($_->[0] eq '' ? 'o' : join ' , ', map { "Fa $_" } split /, /, $_->[0]) . "\n"
            . prose(@{ $_->[1] }) . "\n" for @items;
        $out .= ".El\n";
        @items = ();
    };
    for my $line (@lines) {
        if ($line =~ /^(\w+(?:, \w+)*) {2,}((?:in|out|inout)\b.*)/ || $line =~ /^(\w+(?:, \w+)*) (in: .*)/) {
            $list->() if @prose && @items;
            $flush->();
            my ($names, $what, $returns) = ($1, $2);
            ($what, $returns) = ($1, $2) if $what =~ /^(.*?)\. (Returns .*)/;
            push @items, [$names, [$what]];
            push @prose, $returns if $returns;
        } elsif ($line =~ /^- (.*)/) {
            $flush->();
            push @items, ['', [$1]];
        } elsif (@items && !@prose && $line =~ /^ {2,}(\S.*)/) {
            push @{ $items[-1][1] }, $1;
        } elsif ($line eq '') {
            $flush->();
            $list->();
        } else {
            $list->();
            push @prose, $line;
        }
    }
    $list->();
    $flush->();
    $out =~ s/^\.Pp\n//;
    return $out;
}

sub title {
    my ($name) = @_;
    return qq(.\\" Made by docs/man/interfaces.pl from $file.\n)
        . ".Dd $date\n.Dt " . uc($name) . " 3\n.Os ndspi $version\n";
}

# The first sentence, as .Nd wants it, and the lines of the rest.
sub brief {
    my @lines = @_;
    my $text = join "\n", @lines;
    $text =~ s/^(.*?)\.(?=\s|$)\s*//s or die "no sentence: $text\n";
    my $first = $1 =~ s/\n/ /gr;
    return ($first =~ s/^([A-Z])(?=[a-z ])/lc $1/er, split /\n/, $text);
}

sub synopsis {
    my ($interface) = @_;
    my $out = '';
    for my $method (@{ $of{$interface}{methods} }) {
        $out .= ".Ft $method->{result}\n.Fo ${interface}::$method->{name}\n";
        $out .= qq(.Fa "$_"\n) for @{ $method->{parameters} };
        $out .= ".Fc\n";
    }
    return $out;
}

sub base_text {
    my ($base) = @_;
    return ".Pp\nThe methods of\n.Xr $base 3\ncome before its own.\n" if $of{$base};
    return ".Pp\nThe methods of $base come before its own.\n";
}

# The method of version 2 that one of version 1 corresponds to, as "INTERFACE METHOD".
sub counterpart {
    my ($interface, $method) = @_;
    my %renamed = (INDEndpoint => 'IND2QueuePair', INDListen => 'IND2Listener');
    my $newer = $renamed{$interface} // $interface =~ s/^IND(?!2)/IND2/r;

    return if $newer eq $interface;
    return grep({ $_->{name} eq $method } @{ $of{$newer}{methods} }) ? ($newer, $method) : ();
}

sub method_text {
    my ($interface, $method) = @_;
    my ($newer) = counterpart($interface, $method->{name});
    my $out = $method->{comment} =~ /\S/ ? body(comment_lines($method->{comment})) : '';

    die "$interface\::$method->{name} has no comment\n" unless $out || $newer;
    return $out unless $newer;
    return $out . ($out ? ".Pp\nFor the rest see\n" : "See\n") . ".Xr $newer 3 .\n";
}

sub page {
    my ($name) = @_;
    my $interface = $of{$name};
    my ($first, @rest) = brief(comment_lines($interface->{comment}));
    my $out = title($name) . ".Sh NAME\n.Nm $name\n.Nd $first\n.Sh SYNOPSIS\n.In ndspi.h\n" . synopsis($name);

    $out .= ".Sh DESCRIPTION\n" . (body(@rest) =~ s/^\.Pp\n//r);
    $out .= (@rest ? base_text($interface->{base}) : base_text($interface->{base}) =~ s/^\.Pp\n//r);
    for my $method (@{ $interface->{methods} }) {
        $out .= ".Ss $method->{name}\n" . method_text($name, $method);
    }
    return $out . ".Sh SEE ALSO\n.Xr ndspi.h 3 ,\n.Xr ndspi 7\n";
}

sub index_page {
    my ($first, @rest) = brief(comment_lines($preface));
    $first =~ s/^ndspi\.h - //;
    my $out = title('ndspi.h') . ".Sh NAME\n.Nm ndspi.h\n.Nd $first\n.Sh SYNOPSIS\n.In ndspi.h\n";

    $out .= ".Sh DESCRIPTION\n" . body(@rest) . ".Ss The interfaces\n.Bl -tag -width Ds\n";
    for my $name (@names) {
        my ($what) = brief(comment_lines($of{$name}{comment}));
        $out .= ".It Xr $name 3\n" . escaped(ucfirst $what) . ".\n";
    }
    return $out . ".El\n.Sh SEE ALSO\n.Xr ndspi 7 ,\n.Xr softrdma 7\n";
}

# The structures among these words, and those that they name in turn, each once.
sub types_of {
    my ($seen, @words) = @_;
    my @found;

    for my $name (grep { $type{$_} } @words) {
        next if $seen->{$name}++;
        push @found, $name, types_of($seen, $type{$name} =~ /\w+/g);
    }
    return @found;
}

sub literal {
    my ($text) = @_;
    $text =~ s/\\/\\e/g;
    $text =~ s/^([.'])/\\&$1/gm;
    return ".Bd -literal\n$text\n.Ed\n";
}

sub function_page {
    my ($name) = @_;
    my $function = $function{$name};
    my ($first, @rest) = brief(comment_lines($function->{comment}));
    my $out = title($name) . ".Sh NAME\n.Nm $name\n.Nd " . ($first =~ s/^\w+ - //r);
    my @types = types_of({}, map { /\w+/g } $function->{result}, @{ $function->{parameters} });

    $out .= "\n.Sh SYNOPSIS\n.In ndspi_linux.h\n.Ft $function->{result}\n.Fo $name\n";
    $out .= qq(.Fa "$_"\n) for @{ $function->{parameters} };
    $out .= ".Fc\n.Sh DESCRIPTION\n" . body(@rest);
    $out .= ".Ss $_\n" . literal($type{$_}) for @types;
    return $out . ".Sh SEE ALSO\n" . join(" ,\n", map { ".Xr $_ 3" } sort grep { $_ ne $name } @names)
        . (@names > 1 ? " ,\n" : '') . ".Xr ndspi.h 3 ,\n.Xr ndspi 7\n";
}

sub write_page {
    my ($name, $text) = @_;
    open my $out, '>', "$folder/$name.3" or die "$folder/$name.3: $!\n";
    print $out $text;
    close $out or die "$folder/$name.3: $!\n";
}

read_header();
die "$header: neither interfaces nor functions found\n" unless @names && (%function || $preface);
if (!defined $folder) {
    print "$_\n" for $preface ? 'ndspi.h' : (), @names;
    exit;
}
write_page('ndspi.h', index_page()) if $preface;
write_page($_, $function{$_} ? function_page($_) : page($_)) for @names;
