# complete.zsh SCRIPT LINE FOLDER: prints the completions that zsh offers at the end of LINE, one per
# line. zsh needs a terminal to complete. FOLDER is for temporary files.
zmodload zsh/zpty
found=$3/found
rm -f $found.begin $found.end
: >$found
zpty shell zsh -f -i
zpty -w shell "PS1= fpath=(${(qq)${1:h}} \$fpath); autoload -U compinit; compinit -u -D
compadd() { local -a there; builtin compadd -O there \"\$@\"; print -rl -- \$there >>$found; builtin compadd \"\$@\" }
offer() { BUFFER=\$line; CURSOR=\$#BUFFER; zle complete-word; print >$found.end; BUFFER=; zle accept-line }
zle -N offer; bindkey '^T' offer; line=${(qq)2}; print >$found.begin"
until [[ -e $found.begin ]]; do zpty -rt shell >/dev/null 2>&1 || sleep 0.02; done
zpty -wn shell $'\x14'
integer tries=0
until [[ -e $found.end ]] || ((++tries > 200)); do zpty -rt shell >/dev/null 2>&1 || sleep 0.02; done
zpty -d shell
grep -v '^$' $found | sort -u
