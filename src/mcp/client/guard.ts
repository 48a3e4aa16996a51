// The shell script between us and a server's program. It holds the reading end of a pipe of ours: when we are gone, however
// we went, the pipe ends and it ends the whole group of processes. A shell is the smallest thing that can wait so.

/** Milliseconds between the polite signal and the firm one; the script has them in seconds. */
export const politeMs = 500

/**
 * `$@` is the program. 0 to 2 are its own streams; 3 is the pipe that ends with us. A shell gives its background jobs no
 * standard input, so 4 carries it over. The watcher and the shell outlive the polite signal, which is for the program.
 */
export const guardScript = `
exec 4<&0
"$@" <&4 3<&- 4<&- &
child=$!
exec 4<&- </dev/null
trap '' TERM
( read -r word <&3; kill -TERM -$$; sleep ${politeMs / 1_000}; kill -KILL -$$ ) >/dev/null 2>&1 &
watcher=$!
exec 3<&-
wait $child
code=$?
kill -KILL $watcher 2>/dev/null
exit $code
`
