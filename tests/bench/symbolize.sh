#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Addresses of a large binary to functions, inlined calls, files and lines:
# pprof-symbolize on a profile of them against llvm-symbolizer, addr2line and
# eu-addr2line, which get the list. Two lists: 2,000 addresses inside calls
# of 400 functions, as profiles have them, and 10,000 anywhere in code.
# usage: symbolize.sh [--binary FILE] [--namespaces N]
#   --binary FILE    a program that is not stripped, with DWARF (default: a
#                    C++ program made here)
#   --namespaces N   size of that program (default: 400, about 50 MB)
# Room in TMPDIR: 500 MB. Aim: no slower than llvm-symbolizer.
# shellcheck source=tests/bench/bench.sh
. "$(dirname "$0")/bench.sh"

binary=
namespaces=400
while [ $# != 0 ]; do
  case $1 in
  --binary) binary=$(readlink -f "$2") ;;
  --namespaces) namespaces=$2 ;;
  *)
    echo "symbolize.sh: unknown argument $1" >&2
    exit 2
    ;;
  esac
  shift 2
done

# Namespaces that each instantiate containers over types of their own.
write_program() {
  local i
  printf '#include <%s>\n' algorithm functional map string unordered_map \
    vector
  for ((i = 0; i < $1; i++)); do
    cat <<END
namespace m$i {
struct Key$i {
  int a;
  std::string b;
  bool operator<(const Key$i &o) const
  {
    return a < o.a || (a == o.a && b < o.b);
  }
};
__attribute__((noinline)) long work(int x)
{
  std::map<Key$i, std::vector<std::string>> m;
  std::unordered_map<std::string, std::function<int(int)>> u;
  std::vector<Key$i> v;
  for (int j = 0; j < x; j++)
    m[Key$i{j, std::to_string(j)}].push_back("v");
  for (auto &p : m)
    v.push_back(p.first);
  std::sort(v.begin(), v.end());
  u["q"] = [x](int y) { return x + y; };
  return v.size() + u["q"](x);
}
}
END
  done
  echo 'int main(int argc, char **) { long s = 0;'
  for ((i = 0; i < $1; i++)); do
    echo "s += m$i::work(argc);"
  done
  echo 'return s == 0; }'
}

make_program() {
  local part=$bench_tmp/part
  echo "building a program of $namespaces namespaces" >&2
  write_program "$namespaces" >"$part.cc"
  "${CXX:-c++}" -O2 -g -o "$bench_tmp/program" "$part.cc"
  binary=$bench_tmp/program
}

[ -n "$binary" ] || make_program
symbolize=$(tool pprof-symbolize)
generator gen_pprof
generator pick_addresses
say_machine
echo "$binary: $(bytes_of "$binary") bytes"
"$bench_tmp/pick_addresses" calls 2000 400 "$binary" >"$bench_tmp/calls"
"$bench_tmp/pick_addresses" any 10000 0 "$binary" >"$bench_tmp/any"
head -n 100 "$bench_tmp/calls" >"$bench_tmp/few"

# run_list NAME PEER...: pairs all tools on one list.
run_list() {
  local list=$bench_tmp/$1 name=$1 peer i
  shift
  echo "$name: $(wc -l <"$list") addresses"
  "$bench_tmp/gen_pprof" --addresses "$binary" "$list" >"$list.pb"
  for ((i = 0; i < REPS; i++)); do
    ALLOW=1 sample "pprof-symbolize-$name" "$symbolize" --level=1 \
      -o "$list.out.pb.gz" "$list.pb"
    for peer in "$@"; do
      run_peer "$peer" "$name" "$list"
    done
  done
  report "pprof-symbolize-$name"
  for peer in "$@"; do
    have "$peer" || continue
    report "$peer-$name"
    versus "pprof-symbolize-$name" "$peer-$name"
  done
}

run_peer() {
  have "$1" || return 0
  case $1 in
  llvm-symbolizer)
    STDIN=$3 sample "$1-$2" "$1" --obj="$binary"
    ;;
  addr2line | eu-addr2line)
    STDIN=$3 sample "$1-$2" "$1" -i -f -C -a -e "$binary"
    ;;
  esac
}

for peer in llvm-symbolizer addr2line eu-addr2line; do
  have "$peer" || echo "  $peer is not installed: left out"
done
REPS=${PEER_REPS:-3}
run_list calls llvm-symbolizer addr2line
run_list any llvm-symbolizer addr2line
# It walks all functions of a unit for each address.
run_list few llvm-symbolizer addr2line eu-addr2line
