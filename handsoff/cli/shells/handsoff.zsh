#compdef handsoff git-handsoff
# Completion of handsoff, and of git handsoff, for zsh; printed by
#     handsoff completion zsh
# Names come from handsoff-complete, which reads what is cached. They are other people's words: none
# is ever expanded or evaluated here, and compadd quotes each.

# What may stand behind "COMMAND|": verbs; "COMMAND|-": options; "COMMAND|--option": its values;
# "COMMAND|1": its first argument. @kind is asked for, @any is for the person to know.
_handsoff_table() {
    case $1 in
@TABLE@
    (*) reply=() && return 1 ;;
    esac
}

_handsoff() {
    local -a reply found
    local word at= wants=
    local -i i count=0
    for ((i = 2; i < CURRENT; i++)); do
        word=${(Q)words[i]}
        if [[ -n $wants ]]; then
            wants=
        elif [[ $word == -*=* ]]; then
            continue
        elif [[ $word == -* ]]; then
            if _handsoff_table "$at|$word"; then wants=1; fi
        elif ((count == 0)) && _handsoff_table "${at:+$at }$word|-"; then
            at=${at:+$at }$word
        else
            count+=1
        fi
    done
    word=$words[CURRENT]
    if [[ -n $wants ]]; then
        _handsoff_table "$at|${(Q)words[CURRENT-1]}"
    elif [[ $word == --*=* ]]; then
        _handsoff_table "$at|${word%%=*}" || return 1
        compset -P '*='
    elif [[ $word == -* ]]; then
        _handsoff_table "$at|-"
    elif ! _handsoff_table "$at|$((count + 1))"; then
        _handsoff_table "$at|"
    fi
    case $reply[1] in
    (@files) _files ;;
    (@folders) _files -/ ;;
    (@any | '') _message 'a value' ;;
    (@*)
        found=("${(@f)$(handsoff-complete ${reply[1]#@} 2>/dev/null)}")
        found=("${(@)found:#}")
        compadd -a found
        ;;
    (*) _describe handsoff reply ;;
    esac
}

# zsh's own completion of git calls this behind "git handsoff".
_git-handsoff() { _handsoff "$@"; }

if [[ $funcstack[1] == _handsoff ]]; then
    _handsoff "$@"
else
    compdef _handsoff handsoff git-handsoff
fi
