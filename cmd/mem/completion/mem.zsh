#compdef mem
# zsh completion for mem:  source <(mem completion zsh)
# or put this file as _mem into a directory of $fpath

_mem() {
  local line
  local -a values texts
  while IFS= read -r line; do
    if [[ $line == :file ]]; then
      _files
      return
    fi
    values+=("${line%%$'\t'*}")
    if [[ $line == *$'\t'* ]]; then
      texts+=("${line%%$'\t'*}  -- ${line#*$'\t'}")
    else
      texts+=("$line")
    fi
  done < <(command mem __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#values )) || return 1
  if [[ $#values == 1 && $values[1] == *= ]]; then
    compadd -S '' -l -d texts -a values
  else
    compadd -l -d texts -a values
  fi
}

if [[ $funcstack[1] == _mem ]]; then
  _mem "$@"
else
  compdef _mem mem
fi
