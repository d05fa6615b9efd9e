/** What a column of the playground runs. */
export type ColumnEnd =
  | {
      readonly kind: 'stored'
      /** Undefined for the default one. */
      readonly variant: string | undefined
      /** Undefined for the latest. */
      readonly version: number | undefined
      /** The slug of a revision, in place of both. */
      readonly revision?: string
      /** The slug of an environment, in place of them: what it runs. */
      readonly environment?: string
    }
  | {
      readonly kind: 'draft'
      readonly variant: string
      /** The draft of the editor is the first; copies of it are others. */
      readonly number: number
    }

/** A column, and its name among those of the page. */
export interface Column {
  readonly key: string
  /** As in the address: `v:<variant>`, `v:<variant>@<version>`, `r:<revision>`, `e:<environment>`, `d:<variant>` or `d:<variant>~<number>`. */
  readonly written: string
  readonly end: ColumnEnd
}

/** More would be too narrow to read. */
export const MOST_COLUMNS = 4

/** The parameters of a playground's address. */
export interface RunSearch {
  /** The columns, separated by commas. */
  readonly columns?: string
  /** One column, as other pages link to it. */
  readonly left?: string
  readonly variant?: string
  readonly version?: string
  readonly testset?: string
  readonly row?: string
  /** `1` where rows of the testset run, not one. */
  readonly grid?: string
  /** `1` where differences are marked. */
  readonly marks?: string
  readonly trace?: string
}

/** The columns of an address. */
export function columnsOf({ columns, left, variant, version }: RunSearch): readonly Column[] {
  const given = columns ?? left ?? `v:${variant ?? ''}${version === undefined ? '' : `@${version}`}`
  const times = new Map<string, number>()
  return given
    .split(',')
    .slice(0, MOST_COLUMNS)
    .map((written) => {
      const time = (times.get(written) ?? 0) + 1
      times.set(written, time)
      return { key: `${written} ${time}`, written, end: endOf(written) }
    })
}

/** An end as the address has it. */
export function writtenEnd(end: ColumnEnd): string {
  if (end.kind === 'draft') return `d:${end.variant}${end.number === 1 ? '' : `~${end.number}`}`
  if (end.revision !== undefined) return `r:${end.revision}`
  if (end.environment !== undefined) return `e:${end.environment}`
  return `v:${end.variant ?? ''}${end.version === undefined ? '' : `@${end.version}`}`
}

/** The name under which the browser keeps the draft of a column. */
export function draftName(project: string, slug: string, variant: string, number: number): string {
  return `${project}/${slug}/${variant}${number === 1 ? '' : `~${number}`}`
}

/** A number for another draft of a variant that no column has. */
export function freeNumber(columns: readonly Column[], variant: string): number {
  const taken = columns.flatMap(({ end }) =>
    end.kind === 'draft' && end.variant === variant ? [end.number] : [],
  )
  return taken.reduce((most, number) => Math.max(most, number), 1) + 1
}

function endOf(written: string): ColumnEnd {
  const [, kind = 'v', rest = ''] = /^([vdre]):(.*)$/.exec(written) ?? ['', 'v', written]
  if (kind === 'r') return { kind: 'stored', variant: undefined, version: undefined, revision: rest }
  if (kind === 'e') return { kind: 'stored', variant: undefined, version: undefined, environment: rest }
  const [, name = '', number] = /^(.*?)(?:[@~](\d+))?$/.exec(rest) ?? []
  if (kind === 'd') return { kind: 'draft', variant: name, number: Number(number ?? 1) }
  return {
    kind: 'stored',
    variant: name === '' ? undefined : name,
    version: number === undefined ? undefined : Number(number),
  }
}
