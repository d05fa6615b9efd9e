import { Link } from '@tanstack/react-router'
import { places } from '../../shell/places.ts'

/** What needs an artifact, as 409 `in_use` lists it, each with its page where it has one. */
export function Users({ users }: { readonly users: readonly unknown[] }) {
  return users.slice(0, MOST).map((user, at) => {
    const { kind, id, slug } = user as Readonly<Record<string, string | undefined>>
    const to = placeOf(kind, id, slug)
    const name = slug ?? id ?? ''
    return (
      <li key={at}>
        {kind} {to === undefined ? name : <Link to={to}>{name}</Link>}
      </li>
    )
  })
}

const MOST = 50

function placeOf(kind = '', id = '', slug = ''): string | undefined {
  if (kind === 'trace') return places.trace(id)
  if (kind === 'evaluation') return places.evaluation(id)
  if (kind === 'webhook') return places.settings('webhooks')
  if (kind === 'fork') return places.artifact(slug)
  if (kind === 'deployment') return places.environment(slug)
  return undefined
}
