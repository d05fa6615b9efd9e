import { Embed } from '../../../parts/prompt/embed.tsx'
import { isEmbed } from '../../../parts/prompt/embed-source.ts'
import { PromptText } from '../../../parts/prompt/prompt-text.tsx'
import type { TemplateFormat } from '../../../parts/template/template-variables.ts'
import { ExactNumber } from '../../../api/exact-json.ts'
import { JsonView } from '../../../parts/json/json-view.tsx'
import { Table } from '../../../parts/table/table.tsx'
import type { ParameterRow } from './data-of.ts'
import styles from '../revision.module.css'

export interface ParameterTableProps {
  readonly caption: string
  readonly rows: readonly ParameterRow[]
  readonly format?: TemplateFormat
  /** The name of one that a link leads to. */
  readonly marked?: string | undefined
}

/** Rows past these are among the JSON. */
const MOST = 200

/** Settings by name. What is as the schema has it anyway stands back. */
export function ParameterTable({ caption, rows, format = 'curly', marked }: ParameterTableProps) {
  return (
    <div className={styles.parameters}>
      <Table
        caption={caption}
        rows={rows.slice(0, MOST)}
        keyOf={({ name }) => name}
        isMarked={({ name }) => name === marked}
        columns={[
          {
            name: 'Name',
            cell: ({ name, about, isDefault }) => (
              <span className={isDefault ? styles.default : undefined} title={about}>
                <code>{name.slice(0, 200)}</code>
              </span>
            ),
          },
          {
            name: 'Value',
            cell: ({ value, isDefault }) => (
              <span className={isDefault ? styles.default : undefined}>
                <ParameterValue value={value} format={format} /> {isDefault && <i>default</i>}
              </span>
            ),
          },
        ]}
      />
      {rows.length > MOST && <p className={styles.muted}>{rows.length - MOST} more are in the JSON.</p>}
    </div>
  )
}

function ParameterValue({ value, format }: { readonly value: unknown; readonly format: TemplateFormat }) {
  if (typeof value === 'string')
    return value === '' ? <i>empty</i> : <PromptText text={value} format={format} />
  if (isEmbed(value)) return <Embed of={value} />
  if (typeof value === 'object' && value !== null && !(value instanceof ExactNumber))
    return <JsonView value={value} depth={Object.keys(value).length <= 6 ? 2 : 0} />
  return <code>{String(value)}</code>
}
