import { type RowFileType, rowFileType } from '../../../resources/testsets/import/files/file-type.ts'
import { Button } from '../button/button.tsx'
import { ChoiceField, TextField } from '../fields/fields.tsx'
import { chooseFile, shownSize } from './choose-file.ts'
import styles from './upload-drop.module.css'

/** A file that is about to be sent, and how it is to be read. */
export interface ChosenFile {
  readonly file: File
  readonly type: RowFileType
  /** Whether the cells of a table are read as the values they look like. */
  readonly infer: boolean
  /** What separates the cells of a CSV file; empty for what the file shows. */
  readonly delimiter: string
  /** Which sheet of an .xlsx file; empty for the first. */
  readonly sheet: string
  /** Whether a file without rows is meant. */
  readonly allowEmpty: boolean
}

/** A file, to be read as what its name says. */
export function chosen(file: File): ChosenFile {
  const type = rowFileType({ name: file.name, mediaType: file.type }) ?? 'csv'
  return { file, type, infer: false, delimiter: '', sheet: '', allowEmpty: false }
}

/** A chosen file as the fields of a form. */
export function fieldsOf({ type, ...it }: ChosenFile): Readonly<Record<string, string>> {
  return {
    file_type: type,
    types: isTable(type) && it.infer ? 'infer' : '',
    delimiter: type === 'csv' ? it.delimiter : '',
    sheet: type === 'xlsx' ? it.sheet : '',
    allow_empty: it.allowEmpty ? 'true' : '',
    include_testcases: 'false',
    include_testcase_ids: 'false',
  }
}

function isTable(type: RowFileType): boolean {
  return type === 'csv' || type === 'xlsx'
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
            <span className={styles.muted}>Drop a CSV, JSON, JSONL or Excel file here, or choose one.</span>
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
              { value: 'xlsx', label: 'Excel: a sheet of an .xlsx file' },
            ]}
          />
          {value.type === 'csv' && (
            <ChoiceField
              label="Cells are separated by"
              value={value.delimiter}
              onChange={(delimiter) => onChange({ ...value, delimiter })}
              choices={[
                { value: '', label: 'what the file shows' },
                { value: ',', label: 'commas' },
                { value: ';', label: 'semicolons' },
                { value: '\t', label: 'tabs' },
                { value: '|', label: 'bars' },
              ]}
            />
          )}
          {value.type === 'xlsx' && (
            <TextField
              label="Sheet"
              value={value.sheet}
              onChange={(sheet) => onChange({ ...value, sheet })}
              placeholder="The first"
            />
          )}
          {isTable(value.type) && (
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
          <ChoiceField
            label="A file without rows is"
            value={value.allowEmpty ? 'meant' : 'refused'}
            onChange={(how) => onChange({ ...value, allowEmpty: how === 'meant' })}
            choices={[
              { value: 'refused', label: 'refused, as a mistake' },
              { value: 'meant', label: 'meant: a testset without rows' },
            ]}
          />
        </div>
      )}
    </>
  )
}
