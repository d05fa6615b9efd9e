import { clear, createStore, del, get, keys, set } from 'idb-keyval'
import type { Base, Editing } from './editing.ts'

/** An edit as the browser keeps it: with all of its base, so that it can be shown without the server. */
export interface Draft {
  readonly base: Base
  readonly editing: Editing
  readonly savedAt: string
}

const store = createStore('branchpoint-drafts', 'drafts')

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

/** The names of all drafts that this browser keeps, of whatever key. */
export async function draftNames(): Promise<readonly string[]> {
  return (await keys(store)).map(String)
}

/** Forgets every draft, and has other tabs of this browser forget those that they are at, so that none of them keeps its own again. */
export async function emptyDrafts(): Promise<void> {
  const channel = new BroadcastChannel(EMPTIED)
  channel.postMessage(null)
  channel.close()
  await clear(store)
}

/** Tells when the drafts are emptied in another tab; answers how to end that. */
export function onEmptied(forget: () => void): () => void {
  const channel = new BroadcastChannel(EMPTIED)
  channel.addEventListener('message', forget)
  return () => channel.close()
}

const EMPTIED = 'branchpoint-drafts-emptied'
