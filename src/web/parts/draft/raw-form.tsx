import type { FieldProblem } from '../../api/call.ts'
import { Editor } from '../editor/editor.tsx'
import type { EditorLanguage } from '../editor/editor-props.ts'
import { ChoiceField } from '../fields/fields.tsx'
import { stringAt } from '../json-text/json-text.ts'
import styles from './draft.module.css'
import {
  type Editing,
  problemOfParameters,
  put,
  scriptPlace,
  shownParameters,
  typeParameters,
} from './editing.ts'

interface CodeFormProps {
  readonly editing: Editing
  readonly edit: (change: (editing: Editing) => Editing) => void
  readonly readOnly: boolean
}

export interface RawFormProps extends CodeFormProps {
  /** The problems of the draft, by place. */
  readonly problems: readonly FieldProblem[]
}

/** What is no prompt, or a prompt as JSON: its script, if it runs one, and its parameters. */
export function RawForm({ problems, ...form }: RawFormProps) {
  return (
    <>
      <ScriptForm {...form} />
      <ParametersForm {...form} problems={problems} />
    </>
  )
}

const RUNTIMES = ['python', 'javascript', 'typescript']

/** The script of a workflow that runs code. */
function ScriptForm({ editing, edit, readOnly }: CodeFormProps) {
  const place = scriptPlace(editing.text)
  if (!place) return null
  const runtimeAt = place.script.length === 1 ? ['runtime'] : ['parameters', 'runtime']
  return (
    <section aria-label="Script">
      <div className={styles.runtime}>
        <h2>Script</h2>
        <ChoiceField
          label="Runtime"
          value={place.runtime}
          choices={[...new Set([...RUNTIMES, place.runtime])].map((value) => ({ value, label: value }))}
          onChange={(value) => edit((it) => put(it, runtimeAt, JSON.stringify(value)))}
        />
      </div>
      <Editor
        label="Script"
        value={stringAt(editing.text, place.script) ?? ''}
        onChange={(value) => edit((it) => put(it, place.script, JSON.stringify(value)))}
        language={RUNTIMES.includes(place.runtime) ? (place.runtime as EditorLanguage) : 'python'}
        readOnly={readOnly}
      />
    </section>
  )
}

/** The parameters as JSON, sent as typed. */
function ParametersForm({ editing, edit, readOnly, problems }: RawFormProps) {
  const [first] = problems.filter(({ loc }) => loc[0] === 'parameters' && loc.length > 1)
  return (
    <section aria-label="Parameters">
      <h2>Parameters</h2>
      <Editor
        label="Parameters as JSON"
        value={shownParameters(editing)}
        onChange={(value) => edit((it) => typeParameters(it, value))}
        language="json"
        readOnly={readOnly}
        problem={
          problemOfParameters(editing.typed) ?? (first && `${first.loc.slice(1).join('.')} ${first.msg}`)
        }
      />
    </section>
  )
}
