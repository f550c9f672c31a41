# For dash: functions that call themselves, substitutions, patterns, a here document.
fib() {
  if [ "$1" -lt 2 ]; then echo "$1"; return; fi
  echo $(($(fib $(($1 - 1))) + $(fib $(($1 - 2)))))
}
total=0
for i in 1 2 3 4 5 6 7 8 9 10; do
  case $i in
    *[13579]) total=$((total + i)) ;;
    *) total=$((total * 2)) ;;
  esac
done
text="one two three"
set -- $text
while read -r word rest; do
  echo "${word%e}${rest#t} ${#word}"
done <<END
$text
${1}:${2:-none}
END
echo "$total $(fib 5) $*"
for i in /usr/include/s*.h; do : "${i##*/}"; done
