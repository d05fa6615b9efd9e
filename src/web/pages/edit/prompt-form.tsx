import { itemsAt, type JsonPath, stringAt } from '../../parts/json-text/json-text.ts'
import { templateFormat, variableNames } from '../../parts/template/template-variables.ts'
import { type Editing, namedInputs, promptPlaces } from './draft/editing.ts'
import { Messages } from './messages.tsx'
import { ModelSettings } from './model-settings.tsx'

export interface PromptFormProps {
  readonly editing: Editing
  readonly edit: (change: (editing: Editing) => Editing) => void
  readonly readOnly: boolean
  readonly problemAt: (path: JsonPath) => string | undefined
  readonly onProblem: (field: string, problem: string | undefined) => void
}

/** A prompt: its messages, its model, its parameters. */
export function PromptForm({ editing, edit, readOnly, problemAt, onProblem }: PromptFormProps) {
  const places = promptPlaces(editing.text)
  if (!places) return null
  const format = templateFormat(places.format && stringAt(editing.text, places.format))
  const names = [...new Set([...namedInputs(editing.text), ...variablesOf(editing.text)])]
  return (
    <>
      <Messages
        editing={editing}
        edit={edit}
        path={places.messages}
        format={format}
        names={names}
        readOnly={readOnly}
        problemAt={problemAt}
      />
      <ModelSettings
        editing={editing}
        edit={edit}
        places={places}
        readOnly={readOnly}
        problemAt={problemAt}
        onProblem={onProblem}
      />
    </>
  )
}

/** The inputs that the messages of a prompt ask for. */
export function variablesOf(text: string): readonly string[] {
  const places = promptPlaces(text)
  if (!places) return []
  const format = templateFormat(places.format && stringAt(text, places.format))
  const texts = itemsAt(text, places.messages).map((message) => stringAt(message, ['content']) ?? '')
  return variableNames(texts, format)
}
