# bash completion for mem:  source <(mem completion bash)

_mem() {
  # Words that bash split at ":" or "=" are put together again: an id such as abc1:v002 is one word.
  local i word blank rest=$COMP_LINE cur
  local -a words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    blank=${rest%%[![:space:]]*}
    rest=${rest#"$blank"}
    rest=${rest#"$word"}
    if ((i > 0)) && [[ -z $blank ]]; then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
  done
  cur=${words[${#words[@]} - 1]}

  # Bash replaces only what follows the last word break.
  local keep=
  if [[ $cur == *[:=]* ]]; then
    keep=${cur%"${cur##*[:=]}"}
  fi

  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :file ]]; then
      type compopt >/dev/null 2>&1 && compopt -o filenames
      while IFS= read -r line; do
        COMPREPLY+=("$line")
      done < <(compgen -f -- "${cur#"$keep"}")
      return
    fi
    line=${line%%$'\t'*}
    line=${line#"$keep"}
    [[ $line == *[[:space:]]* ]] && printf -v line %q "$line"
    COMPREPLY+=("$line")
  done < <("$1" __complete "${words[@]:1}" 2>/dev/null)
  if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *= ]]; then
    type compopt >/dev/null 2>&1 && compopt -o nospace
  fi
}
complete -F _mem mem
