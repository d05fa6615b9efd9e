import { del, get, set } from 'idb-keyval'
import { draftsKept as store } from '../../../parts/drafts/drafts-kept.ts'
import type { Base, Editing } from './editing.ts'

/** An edit as the browser keeps it: with all of its base, so that it can be shown without the server. */
export interface Draft {
  readonly base: Base
  readonly editing: Editing
  readonly savedAt: string
}

/** The draft under a name; undefined where there is none. Rejects where the browser keeps nothing. */
export function readDraft(name: string): Promise<Draft | undefined> {
  return get<Draft>(name, store)
}

/** Keeps a draft in place of the one before. */
export function keepDraft(name: string, draft: Draft): Promise<void> {
  return set(name, draft, store)
}

export function dropDraft(name: string): Promise<void> {
  return del(name, store)
}
