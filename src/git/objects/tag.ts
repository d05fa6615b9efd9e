import type { ObjectKind, Oid } from './object.ts'
import { parseHeaders, requiredOid } from './headers.ts'
import { parseIdent, type Ident } from './ident.ts'

/** What an annotated tag object says. */
export interface Tag {
  readonly object: Oid
  /** The kind of `object`. A tag may name another tag: peel until it does not. */
  readonly kind: ObjectKind
  readonly tag: string
  /** Absent in tags that very old git made. */
  readonly tagger?: Ident
  readonly message: string
}

/** Reads an annotated tag; refused (`damaged_repository`) only if it names no object. */
export function parseTag(bytes: Buffer): Tag {
  const { headers, message } = parseHeaders(bytes)
  const object = requiredOid(headers, 0, 'object')
  const value = (key: string) => headers.find((header) => header.key === key)?.value
  const kind = value('type')
  const tagger = value('tagger')
  return {
    object,
    kind: kind === 'tree' || kind === 'blob' || kind === 'tag' ? kind : 'commit',
    tag: value('tag') ?? '',
    ...(tagger === undefined ? {} : { tagger: parseIdent(tagger) }),
    message,
  }
}
