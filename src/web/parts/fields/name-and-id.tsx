import { useEffect, useState } from 'react'
import { Problem } from '../../api/call.ts'
import { useRoute } from '../../api/use-route.ts'
import { TextField } from './fields.tsx'

/** A name, and the ID that follows it until somebody types another one. */
export interface NewName {
  readonly name: string
  readonly id: string
  readonly onName: (name: string) => void
  readonly onId: (id: string) => void
  /** What is wrong with the ID, also that it is taken. */
  readonly wrong: string | undefined
  /** Why it cannot be created yet. */
  readonly refusal: string | undefined
}

/** The families whose IDs are looked up, with the name of one in a request. */
const ONE_OF = {
  workflows: 'workflow',
  testsets: 'testset',
  queries: 'query',
  environments: 'environment',
} as const

/** The server is asked after this pause in typing, in milliseconds. */
const PAUSE = 200

/** Why the server would refuse the ID: it is taken, or ill-formed. Undefined until it has answered. */
function useTaken(id: string, family: keyof typeof ONE_OF | undefined): string | undefined {
  const [asked, setAsked] = useState(id)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(id), PAUSE)
    return () => clearTimeout(timer)
  }, [id])
  const { data, error } = useRoute(
    // All families are asked in the same way, in their own words.
    `POST /${family ?? 'workflows'}/query` as 'POST /workflows/query',
    { body: { [ONE_OF[family ?? 'workflows']]: { slugs: [asked] }, include_archived: true } },
    { enabled: family !== undefined && asked !== '' && problemOfId(asked) === undefined },
  )
  if (id !== asked) return undefined
  if (data !== undefined && data.count > 0) return `“${id}” is taken already.`
  return error instanceof Problem && error.status === 422
    ? (error.errors[0]?.msg ?? error.message)
    : undefined
}

/** The state of a `NameAndId`. With a family, the ID is looked up while one types. */
export function useNamed(first = '', family?: keyof typeof ONE_OF): NewName {
  const [name, setName] = useState(first)
  const [typed, setTyped] = useState<string>()
  const id = typed ?? idOfName(name)
  const taken = useTaken(id, family)
  const wrong = id === '' ? undefined : (problemOfId(id) ?? taken)
  return {
    name,
    id,
    onName: setName,
    onId: setTyped,
    wrong,
    refusal: id === '' ? (name === '' ? 'Type a name first.' : 'Type an ID first.') : wrong,
  }
}

export interface NameAndIdProps {
  readonly named: NewName
  /** The server's message about the ID. */
  readonly problem?: string | undefined
  readonly placeholder?: string
}

/** The fields for the name and the ID of something new. */
export function NameAndId({
  named: { name, id, onName, onId, wrong },
  problem,
  placeholder,
}: NameAndIdProps) {
  return (
    <>
      <TextField label="Name" value={name} onChange={onName} placeholder={placeholder} autoFocus />
      <TextField
        label="ID"
        value={id}
        onChange={onId}
        spellCheck={false}
        autoComplete="off"
        hint="Used in code and links. It can’t be changed later."
        problem={wrong ?? problem}
      />
    </>
  )
}

const LONGEST_DERIVED = 60

/** `Réponses au client` becomes `reponses-au-client`. */
function idOfName(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_.]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, LONGEST_DERIVED)
}

function problemOfId(id: string): string | undefined {
  return /^[\w.-]+$/.test(id) ? undefined : 'An ID has only letters, digits, dots, dashes and underscores.'
}
