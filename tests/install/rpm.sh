#!/bin/bash
# SPDX-License-Identifier: MIT
# rpmbuild takes packaging/ndspi.spec, of the version of the project: it installs what this build has made, finds each
# file that the spec names, and none besides. What the spec leaves out, Windows' side, is removed before. The macros of
# RPM distributions that Debian's rpm lacks are defined here.
# usage: rpm.sh ROOT BUILD WORK LIBDIR VERSION
set -euo pipefail
source=$1 build=$2 work=$3 libdir=$4 version=$5
command -v rpmbuild > /dev/null || { echo "no rpmbuild"; exit 77; }
rm -rf "$work"
# Of rpm before 4.20, and since.
for folder in "$work/BUILD" "$work/BUILD/ndspi-$version-build"; do
    mkdir -p "$folder/SPECPARTS"
    ln -s "$source" "$folder/ndspi-$version"
done
windows="bin/ndspi-wine share/man/man1/ndspi-wine.1 share/bash-completion/completions/ndspi-wine
    share/zsh/site-functions/_ndspi-wine $libdir/ndspi/windows $libdir/ndspi/wine $libdir/ndspi/*mingw32"
install="DESTDIR=%{buildroot} cmake --install $build --prefix /usr > $work/installed
    (cd %{buildroot}/usr && rm -rf ${windows//$'\n'/})"
rpmbuild -bi --short-circuit --nodeps -D "_topdir $work" -D "_libdir /usr/$libdir" -D '_unitdir /lib/systemd/system' \
    -D "cmake true" -D "cmake_build true" -D "cmake_install ${install//$'\n'/;}" -D 'debug_package %{nil}' \
    -D '__os_install_post %{nil}' -D 'systemd_post() true' -D 'systemd_preun() true' \
    -D 'systemd_postun_with_restart() true' "$source/packaging/ndspi.spec" > "$work/log" 2>&1 ||
    { tail -50 "$work/log"; exit 1; }
