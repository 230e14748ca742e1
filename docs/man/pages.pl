#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Makes the manual pages of section 3 out of the comments of the public headers: for each interface, method, function,
# structure and header one. How comments are understood: Comments.pm; what a page has: Pages.pm.
# usage: pages.pl --sources ROOT               prints the paths of the headers
#        pages.pl ROOT                         prints the names of the pages
#        pages.pl ROOT DATE VERSION FOLDER     writes FOLDER/NAME.3
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Public qw(public_headers public_pages);
use Mdoc qw(mdoc);

if (($ARGV[0] // '') eq '--sources') {
    print "$ARGV[1]/$_\n" for public_headers();
    exit;
}
my ($root, $date, $version, $folder) = @ARGV;

sub write_page {
    my ($name, $text) = @_;
    open my $out, '>', "$folder/$name.3" or die "$folder/$name.3: $!\n";
    print $out $text;
    close $out or die "$folder/$name.3: $!\n";
}

for my $page (public_pages($root)) {
    if (!defined $folder) {
        print "$_\n" for $page->{name}, @{ $page->{aliases} };
        next;
    }
    write_page($page->{name}, mdoc($page, $date, $version));
    write_page($_, ".so man3/$page->{name}.3\n") for @{ $page->{aliases} };
}
