# fish completion for mem:  mem completion fish | source

function __mem_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l lines (command mem __complete -- $words[2..-1] 2>/dev/null)
    if test "$lines[1]" = ":file"
        __fish_complete_path (commandline -ct)
        return
    end
    for line in $lines
        echo $line
    end
end

complete -c mem -f -a '(__mem_complete)'
