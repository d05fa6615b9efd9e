import { ChoiceField } from '../../parts/fields/choice-field.tsx'
import type { FieldProblem } from '../../api/problem.ts'
import { Editor } from '../../parts/editor/editor.tsx'
import type { EditorLanguage } from '../../parts/editor/editor-props.ts'
import { stringAt } from '../../parts/json-text/json-text.ts'
import styles from './edit.module.css'
import {
  type Editing,
  problemOfParameters,
  put,
  scriptPlace,
  shownParameters,
  typeParameters,
} from './draft/editing.ts'

export interface CodeFormProps {
  readonly editing: Editing
  readonly edit: (change: (editing: Editing) => Editing) => void
  readonly readOnly: boolean
}

export interface ParametersFormProps extends CodeFormProps {
  /** What is wrong with values of the parameters, by place. */
  readonly problems: readonly FieldProblem[]
}

const RUNTIMES = ['python', 'javascript', 'typescript']

/** The script of a workflow that runs code. */
export function ScriptForm({ editing, edit, readOnly }: CodeFormProps) {
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

/** The parameters as JSON, sent as they are typed. */
export function ParametersForm({ editing, edit, readOnly, problems }: ParametersFormProps) {
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
