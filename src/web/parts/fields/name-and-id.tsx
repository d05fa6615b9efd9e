import { useState } from 'react'
import { TextField } from './fields.tsx'

/** A name, and the ID that follows it until somebody types another one. */
export interface NewName {
  readonly name: string
  readonly id: string
  readonly onName: (name: string) => void
  readonly onId: (id: string) => void
  /** Why it cannot be created yet. */
  readonly refusal: string | undefined
}

/** The state of a `NameAndId`. */
export function useNamed(first = ''): NewName {
  const [name, setName] = useState(first)
  const [typed, setTyped] = useState<string>()
  const id = typed ?? idOfName(name)
  return {
    name,
    id,
    onName: setName,
    onId: setTyped,
    refusal: id === '' ? (name === '' ? 'Type a name first.' : 'Type an ID first.') : problemOfId(id),
  }
}

export interface NameAndIdProps {
  readonly named: NewName
  /** The server's message about the ID. */
  readonly problem?: string | undefined
  readonly placeholder?: string
}

/** The fields for the name and the ID of something new. */
export function NameAndId({ named: { name, id, onName, onId }, problem, placeholder }: NameAndIdProps) {
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
        problem={problem ?? (id === '' ? undefined : problemOfId(id))}
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
