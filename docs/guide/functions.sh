# What the pages of the guide use, for bash: `. docs/guide/functions.sh` in the folder of the checkout.
# BRANCHPOINT_URL and BRANCHPOINT_KEY are set; the first start of a server prints the line that does it.

# Asks the server: get PATH [more of curl's options].
get() { curl -sS --fail-with-body -w '\n' -H "Authorization: ApiKey $BRANCHPOINT_KEY" "$BRANCHPOINT_URL$1" "${@:2}"; }

# Sends JSON to it: call PATH JSON.
call() { get "$1" -H 'Content-Type: application/json' -d "$2"; }

# A value out of an answer: call … | field application.id
field() { node -pe "JSON.parse(require('fs').readFileSync(0)).$1"; }

# The digits of an id as git takes them: those of a commit, or of a row.
digits() { echo "$1" | tr -d - | cut -c 1-12; }

# The parameters of a prompt, of a temperature.
prompt() {
  echo '{"prompt": {"messages": [{"role": "system", "content": "You answer tickets. Be kind."}, {"role": "user", "content": "{{question}}"}],
    "llm_config": {"model": "gpt-4o-mini", "temperature": '"$1"'}, "template_format": "curly"}}'
}
