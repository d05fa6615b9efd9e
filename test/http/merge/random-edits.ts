import * as fc from 'fast-check'

/** A change that somebody makes to data; one that finds nothing to change leaves it. */
export type Edit<T> = (data: T, who: string) => T

/** A base, and what two people make of it. */
export interface Edited<T> {
  readonly base: T
  readonly target: T
  readonly source: T
}

function edited<T>(base: fc.Arbitrary<T>, edit: fc.Arbitrary<Edit<T>>): fc.Arbitrary<Edited<T>> {
  const edits = fc.array(edit, { maxLength: 3 })
  return fc.tuple(base, edits, edits).map(([data, mine, theirs]) => ({
    base: data,
    target: mine.reduce((it, change) => change(it, 'mine'), data),
    source: theirs.reduce((it, change) => change(it, 'theirs'), data),
  }))
}

export interface Message {
  readonly role: string
  readonly content: string
}

/** What a random prompt is made of. */
export interface PromptParts {
  readonly messages: readonly Message[]
  readonly settings: Readonly<Record<string, number>>
  readonly tools: readonly string[]
}

export function promptData({ messages, settings, tools }: PromptParts): object {
  const listed = tools.map((name) => ({ name, description: `What ${name} does` }))
  return { parameters: { prompt: { messages, ...settings }, tools: listed } }
}

const index = fc.nat({ max: 20 })

/** Lines that say where they were, so that no two texts have one in common by chance. */
const basePrompt: fc.Arbitrary<PromptParts> = fc
  .tuple(fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 4 }), index)
  .map(([lengths, salt]) => ({
    messages: lengths.map((length, at) => ({
      role: at === 0 ? 'system' : at % 2 === 1 ? 'user' : 'assistant',
      content: Array.from({ length }, (_, line) => `Line ${line} of text ${at} of ${salt}.`).join('\n'),
    })),
    settings: { temperature: 1, top_p: 1, max_tokens: 100 },
    tools: ['search', 'mail'],
  }))

const promptEdit: fc.Arbitrary<Edit<PromptParts>> = fc.oneof(
  fc.tuple(index, index).map(([which, line]): Edit<PromptParts> => (data, who) => {
    const at = which % Math.max(1, data.messages.length)
    return {
      ...data,
      messages: data.messages.map((message, other) => {
        if (other !== at) return message
        const lines = message.content.split('\n')
        lines[line % lines.length] = `${lines[line % lines.length]} Edited by ${who}.`
        return { ...message, content: lines.join('\n') }
      }),
    }
  }),
  fc.tuple(index, index).map(([at, salt]): Edit<PromptParts> => (data, who) => ({
    ...data,
    messages: data.messages.toSpliced(at % (data.messages.length + 1), 0, {
      role: 'user',
      content: `Something new of ${who}, number ${salt}.`,
    }),
  })),
  index.map(
    (at): Edit<PromptParts> =>
      (data) =>
        data.messages.length < 2
          ? data
          : { ...data, messages: data.messages.toSpliced(at % data.messages.length, 1) },
  ),
  fc
    .tuple(fc.constantFrom('temperature', 'top_p', 'max_tokens', 'seed', 'n'), index)
    .map(([key, value]): Edit<PromptParts> => (data) => ({
      ...data,
      settings: { ...data.settings, [key]: value },
    })),
  fc
    .constantFrom('call', 'pay', 'book')
    .map((name): Edit<PromptParts> => (data) => ({ ...data, tools: [...new Set([...data.tools, name])] })),
)

export const editedPrompts = edited(basePrompt, promptEdit)

export interface Row {
  readonly id: string
  readonly cells: Readonly<Record<string, number>>
}

export function rowsData(rows: readonly Row[]): object {
  return { testcases: rows.map(({ id, cells }) => ({ data: { testcase_dedup_id: id, ...cells } })) }
}

const baseRows: fc.Arbitrary<readonly Row[]> = fc
  .integer({ min: 1, max: 9 })
  .map((length) => Array.from({ length }, (_, at) => ({ id: `r${at}`, cells: { x: at, y: at, z: at } })))

const rowEdit: fc.Arbitrary<Edit<readonly Row[]>> = fc.oneof(
  fc.tuple(index, fc.constantFrom('x', 'y', 'z', 'w'), index).map(
    ([at, column, value]): Edit<readonly Row[]> =>
      (rows) =>
        rows.map((row, other) =>
          other === at % rows.length ? { ...row, cells: { ...row.cells, [column]: 100 + value } } : row,
        ),
  ),
  fc.tuple(index, index).map(([at, salt]): Edit<readonly Row[]> => (rows, who) => {
    const id = `${who}-${salt}-${rows.length}`
    return rows.toSpliced(at % (rows.length + 1), 0, { id, cells: { x: salt, y: rows.length } })
  }),
  index.map(
    (at): Edit<readonly Row[]> =>
      (rows) =>
        rows.length < 2 ? rows : rows.toSpliced(at % rows.length, 1),
  ),
  fc.tuple(index, index).map(([from, to]): Edit<readonly Row[]> => (rows) => {
    const [row] = rows.slice(from % rows.length)
    const left = rows.filter((it) => it !== row)
    return row ? left.toSpliced(to % rows.length, 0, row) : rows
  }),
)

export const editedRows = edited(baseRows, rowEdit)
