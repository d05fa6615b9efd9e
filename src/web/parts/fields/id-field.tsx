import { useEffect, useState } from 'react'
import { Problem } from '../../api/call.ts'
import { useRoute } from '../../api/use-route.ts'
import { TextField } from './fields.tsx'

/** The families whose IDs are looked up, with the name of one in a request. */
const ONE_OF = {
  workflows: 'workflow',
  testsets: 'testset',
  queries: 'query',
  environments: 'environment',
} as const

/** The ID of something new. */
export interface NewId {
  readonly id: string
  readonly setId: (id: string) => void
  /** Why it cannot be used. */
  readonly problem: string | undefined
}

/** An ID derived from the name until it is typed, checked while one types: its form, and whether it is taken. */
export function useNewId(family: keyof typeof ONE_OF, name: string): NewId {
  const [typed, setId] = useState<string>()
  const id = typed ?? idOf(name)
  const [asked, setAsked] = useState(id)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(id), PAUSE)
    return () => clearTimeout(timer)
  }, [id])
  const isFormed = SHAPE.test(id)
  // All families are asked in the same way, in their own words.
  const { data, error } = useRoute(
    `POST /${family}/query` as 'POST /workflows/query',
    { body: { [ONE_OF[family]]: { slugs: [asked] }, include_archived: true } },
    { enabled: SHAPE.test(asked) },
  )
  const problem =
    id === '' ? undefined : !isFormed ? FORM : id !== asked ? undefined : problemOf(id, data?.count, error)
  return { id, setId, problem }
}

/** The server is asked after this pause in typing, in milliseconds. */
const PAUSE = 200

const SHAPE = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/

const FORM = 'Only letters, digits, _ . and -, and the first is a letter, a digit or _.'

function problemOf(id: string, count: number | undefined, error: unknown): string | undefined {
  if (count !== undefined && count > 0) return `“${id}” is taken already.`
  if (error instanceof Problem && error.status === 422) return error.errors[0]?.msg ?? error.message
  return undefined
}

/** An ID made of a name: `Refund reply (EU)` becomes `refund-reply-eu`. */
function idOf(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 80)
    .toLowerCase()
}

interface IdFieldProps extends NewId {
  /** The server's message after it refused the ID. */
  readonly refused?: string | undefined
}

/** The field of a new ID. */
export function IdField({ id, setId, problem, refused }: IdFieldProps) {
  return (
    <TextField
      label="ID"
      value={id}
      onChange={setId}
      autoComplete="off"
      spellCheck={false}
      problem={problem ?? refused}
      hint="Used in code and links. It can’t be changed later."
    />
  )
}
