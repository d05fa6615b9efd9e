import { ExactNumber, parseJson } from '../../../api/json.ts'

/** What a column holds. It decides what typed and pasted text becomes; a text that looks like JSON stays text in a text column. */
export type ColumnType = 'text' | 'number' | 'boolean' | 'json'

export const COLUMN_TYPES: readonly ColumnType[] = ['text', 'number', 'boolean', 'json']

/** The types as users read them. */
export const TYPE_WORDS: Readonly<Record<ColumnType, string>> = {
  text: 'Text',
  number: 'Number',
  boolean: 'Boolean',
  json: 'JSON',
}

/** The type of one value; undefined for no value. */
function typeOfValue(value: unknown): ColumnType | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string') return 'text'
  if (typeof value === 'number' || value instanceof ExactNumber) return 'number'
  return typeof value === 'boolean' ? 'boolean' : 'json'
}

/** The type of a column by some of its values: the one that all have, text if there is none. */
export function typeOfColumn(values: readonly unknown[]): ColumnType {
  const types = new Set(values.flatMap((value) => typeOfValue(value) ?? []))
  const [only] = types
  if (types.size === 0 || only === undefined) return 'text'
  if (types.size === 1) return only
  return types.has('text') ? 'text' : 'json'
}

/**
 * The value of a text that was typed or pasted. `isChosen`: the user chose the type; otherwise a cell that holds another type keeps it where the
 * text fits. `isOdd`: the text does not fit the type and stays a text.
 */
export function valueOfText(
  text: string,
  type: ColumnType,
  { isChosen, before }: { readonly isChosen: boolean; readonly before: unknown },
): { readonly value: unknown; readonly isOdd: boolean } {
  const held = typeOfValue(before)
  const wanted = !isChosen && held !== undefined && held !== type ? held : type
  if (wanted === 'text')
    return { value: text === '' && before === undefined ? undefined : text, isOdd: false }
  const typed = text.trim()
  if (typed === '') return { value: undefined, isOdd: false }
  const parsed = jsonIn(wanted === 'boolean' ? typed.toLowerCase() : typed)
  if (parsed && (wanted === 'json' || typeOfValue(parsed.value) === wanted))
    return { value: parsed.value, isOdd: false }
  return { value: text, isOdd: true }
}

function jsonIn(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJson(text) }
  } catch {
    return undefined
  }
}

/** A value as text to edit or copy. */
export function textOfValue(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined ? '' : JSON.stringify(value)
}

/** Whether two values are the same. */
export function isSameValue(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other))
}

/** Longer texts, and those of several lines, are edited in a dialog. */
const LONGEST_IN_CELL = 2000

/** Whether a value is edited in its cell. */
export function fitsInCell(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= LONGEST_IN_CELL && !value.includes('\n')
  return typeof value !== 'object' || value === null || value instanceof ExactNumber
}
