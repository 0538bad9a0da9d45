# complete.bash SCRIPT LINE: prints the completions that bash offers at the end of LINE, one per line.
. /usr/share/bash-completion/bash_completion
. "$1"
compopt() { :; } # it is of a keyboard

COMP_LINE=$2
COMP_POINT=${#2}
COMP_TYPE=9 COMP_KEY=9
# Like readline, splits words at = and : too.
mapfile -t COMP_WORDS < <(grep -oE '[=:]|[^ =:]+' <<<"$2")
if [[ $2 == *' ' ]]; then COMP_WORDS+=(''); fi
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_camp camp "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
