# complete.bash SCRIPT LINE: what bash offers where LINE ends, a line each.
. /usr/share/bash-completion/bash_completion
. "$1"
compopt() { :; } # it is of a keyboard

COMP_LINE=$2
COMP_POINT=${#2}
COMP_TYPE=9 COMP_KEY=9
# Words are parted as readline does, at = and : as well.
mapfile -t COMP_WORDS < <(grep -oE '[=:]|[^ =:]+' <<<"$2")
if [[ $2 == *' ' ]]; then COMP_WORDS+=(''); fi
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_camp camp "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
