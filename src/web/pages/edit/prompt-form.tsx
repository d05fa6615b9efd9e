import { type JsonPath, stringAt } from '../../parts/json-text/json-text.ts'
import { templateFormat } from '../../parts/template/template-variables.ts'
import { type Editing, namedInputs, promptInputs, promptPlaces } from './draft/editing.ts'
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
  const names = [...new Set([...namedInputs(editing.text), ...promptInputs(editing.text)])]
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
