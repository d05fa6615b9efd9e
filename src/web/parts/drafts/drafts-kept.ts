import { clear, createStore, keys } from 'idb-keyval'

/** Where this browser keeps drafts of edits, by name: `<project>/<slug>/<variant>`. */
export const draftsKept = createStore('branchpoint-drafts', 'drafts')

/** The names of all drafts that this browser keeps, of whatever key. */
export async function draftNames(): Promise<readonly string[]> {
  return (await keys(draftsKept)).map(String)
}

/** Forgets every draft, and has other tabs of this browser forget those that they are at, so that none of them keeps its own again. */
export async function emptyDrafts(): Promise<void> {
  const channel = new BroadcastChannel(EMPTIED)
  channel.postMessage(null)
  channel.close()
  await clear(draftsKept)
}

/** Tells when the drafts are emptied in another tab; answers how to end that. */
export function onEmptied(forget: () => void): () => void {
  const channel = new BroadcastChannel(EMPTIED)
  channel.addEventListener('message', forget)
  return () => channel.close()
}

const EMPTIED = 'branchpoint-drafts-emptied'
