# Completion of handsoff, and of git handsoff, for fish; printed by
#     handsoff completion fish
# Names come from handsoff-complete, which reads what is cached. They are other people's words: none
# is ever expanded or evaluated here, and fish quotes each.

# What may stand behind "COMMAND|": verbs; "COMMAND|-": options; "COMMAND|--option": its values;
# "COMMAND|1": its first argument. @kind is asked for, @any is for the person to know.
function __handsoff_table
    switch $argv[1]
@TABLE@
        case '*'
            return 1
    end
end

function __handsoff_offer
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -e words[1]
    if test "$argv[1]" = git
        while set -q words[1]; and test "$words[1]" != handsoff
            set -e words[1]
        end
        set -e words[1]
    end
    set -l at ''
    set -l wants ''
    set -l count 0
    for before in $words
        set -l deeper (string trim -- "$at $before")
        if test -n "$wants"
            set wants ''
        else if string match -qr -- '^-.*=' $before
            continue
        else if string match -q -- '-*' $before
            if __handsoff_table "$at|$before" >/dev/null
                set wants "$at|$before"
            end
        else if test $count -eq 0; and __handsoff_table "$deeper|-" >/dev/null
            set at $deeper
        else
            set count (math $count + 1)
        end
    end
    set -l start ''
    set -l found
    if test -n "$wants"
        set found (__handsoff_table $wants)
    else if string match -qr -- '^--.*=' $word
        set start (string replace -r -- '=.*' '=' $word)
        set found (__handsoff_table "$at|"(string replace -r -- '=.*' '' $word))
    else if string match -q -- '-*' $word
        set found (__handsoff_table "$at|-")
    else
        set found (__handsoff_table "$at|"(math $count + 1); or __handsoff_table "$at|")
    end
    switch "$found[1]"
        case @files
            __fish_complete_path (string replace -- "$start" '' $word)
        case @folders
            __fish_complete_directories (string replace -- "$start" '' $word)
        case @any ''
        case '@*'
            for name in (handsoff-complete (string sub -s 2 -- $found[1]) 2>/dev/null)
                printf '%s%s\n' $start $name
            end
        case '*'
            for name in $found
                printf '%s%s\n' $start $name
            end
    end
end

function __handsoff_under_git
    contains -- handsoff (commandline -opc)
end

complete -c handsoff -f -a '(__handsoff_offer)'
complete -c git-handsoff -f -a '(__handsoff_offer)'
complete -c git -n __handsoff_under_git -f -a '(__handsoff_offer git)'
