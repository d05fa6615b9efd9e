import { Button } from '../button/button.tsx'
import { ChoiceField } from '../fields/choice-field.tsx'
import { chooseFile, type RowFileType, shownSize, typeOfFile } from './choose-file.ts'
import styles from './upload-drop.module.css'

/** A file that is about to be sent, and how it is to be read. */
export interface ChosenFile {
  readonly file: File
  readonly type: RowFileType
  /** Whether CSV cells are read as the JSON they look like. */
  readonly infer: boolean
}

/** A file, to be read as what its name says. */
export function chosen(file: File): ChosenFile {
  return { file, type: typeOfFile(file.name), infer: false }
}

/** A chosen file as the fields of a form. */
export function fieldsOf({ type, infer }: ChosenFile): Readonly<Record<string, string>> {
  return {
    file_type: type,
    types: type === 'csv' && infer ? 'infer' : '',
    include_testcases: 'false',
    include_testcase_ids: 'false',
  }
}

export interface FileFieldsProps {
  readonly value: ChosenFile | undefined
  readonly onChange: (value: ChosenFile) => void
}

/** Which file, and how it is read. */
export function FileFields({ value, onChange }: FileFieldsProps) {
  return (
    <>
      <div className={styles.file}>
        <span>
          {value ? (
            <>
              <b>{value.file.name}</b> <span className={styles.muted}>{shownSize(value.file.size)}</span>
            </>
          ) : (
            <span className={styles.muted}>Drop a CSV, JSON or JSONL file here, or choose one.</span>
          )}
        </span>
        <Button onClick={() => void chooseFile().then((file) => file && onChange(chosen(file)))}>
          {value ? 'Choose another' : 'Choose a file'}
        </Button>
      </div>
      {value && (
        <div className={styles.choices}>
          <ChoiceField
            label="The file is"
            value={value.type}
            onChange={(type) => onChange({ ...value, type: type as RowFileType })}
            choices={[
              { value: 'csv', label: 'CSV: a line of names, then a row a record' },
              { value: 'json', label: 'JSON: an array of objects' },
              { value: 'jsonl', label: 'JSONL: an object a line' },
            ]}
          />
          {value.type === 'csv' && (
            <ChoiceField
              label="Cells are"
              value={value.infer ? 'infer' : 'string'}
              onChange={(how) => onChange({ ...value, infer: how === 'infer' })}
              choices={[
                { value: 'string', label: 'texts, exactly as they stand' },
                { value: 'infer', label: 'what they look like: 12, true, {"a": 1}' },
              ]}
            />
          )}
        </div>
      )}
    </>
  )
}
