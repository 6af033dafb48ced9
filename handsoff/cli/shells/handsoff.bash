# Completion of handsoff, and of git handsoff, for bash 4.4 and later; printed by
#     handsoff completion bash
# Names come from handsoff-complete, which reads what is cached. They are other people's words: none
# is ever expanded or evaluated here, and each is quoted before it stands in the command line.

# What may stand behind "COMMAND|": verbs; "COMMAND|-": options; "COMMAND|--option": its values;
# "COMMAND|1": its first argument. @kind is asked for, @any is for the person to know.
_handsoff_table() {
    case $1 in
@TABLE@
    *) REPLY= && return 1 ;;
    esac
}

# Offer those of the lines that are read here which go on from the word under the cursor.
_handsoff_offer() {
    local word=$1 line quote=
    case $word in
    \'* | \"*) quote=${word:0:1} word=${word:1} ;;
    *) word=${word//\\\\/$'\1'} word=${word//\\/} word=${word//$'\1'/\\} ;;
    esac
    while IFS= read -r line; do
        if [[ $line != "$word"* ]]; then continue; fi
        case $quote in
        \') if [[ $line == *\'* ]]; then continue; fi ;;
        \") if [[ $line == *[\"\$\`\\!]* ]]; then continue; fi ;;
        *)
            printf -v line %q "$line"
            # readline takes the word apart at these, unless they are quoted
            line=${line//=/\\=} line=${line//@/\\@} line=${line//:/\\:}
            ;;
        esac
        COMPREPLY+=("$line")
    done
}

# Complete the last of the words, of which those from $1 on are handsoff's.
_handsoff_from() {
    local -i i count=0
    local word path= wants= REPLY
    COMPREPLY=()
    for ((i = $1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $word == "=" ]]; then
            continue
        elif [[ $wants ]]; then
            wants=
        elif [[ $word == -* ]]; then
            if _handsoff_table "$path|$word"; then wants=$REPLY; fi
        elif ((count == 0)) && _handsoff_table "${path:+$path }$word|-"; then
            path=${path:+$path }$word
        else
            count+=1
        fi
    done
    word=${COMP_WORDS[COMP_CWORD]}
    if [[ $word == "=" ]]; then word=; fi
    if [[ ! $wants ]]; then
        if [[ $word == -* ]]; then
            _handsoff_table "$path|-"
        elif ! _handsoff_table "$path|$((count + 1))"; then
            _handsoff_table "$path|"
        fi
        wants=$REPLY
    fi
    if [[ $wants != @files ]]; then compopt +o default +o bashdefault 2>/dev/null; fi
    compopt +o nospace 2>/dev/null
    case $wants in
    @files | @any | "") ;;
    @folders) compopt -o dirnames 2>/dev/null ;;
    @*) _handsoff_offer "$word" < <(handsoff-complete "${wants#@}" 2>/dev/null) ;;
    *) _handsoff_offer "$word" <<<"${wants// /$'\n'}" ;;
    esac
}

_handsoff() { _handsoff_from 1; }

# git's own completion calls this behind "git handsoff".
_git_handsoff() {
    local -i i
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == handsoff ]]; then
            _handsoff_from $((i + 1))
            return
        fi
    done
}

complete -o bashdefault -o default -F _handsoff handsoff git-handsoff
