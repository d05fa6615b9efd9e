import { clear, createStore, keys } from 'idb-keyval'

/** The drafts of this browser, by name: `<project>/<slug>/<variant>`. */
export const draftsKept = createStore('branchpoint-drafts', 'drafts')

/** The inputs that prompts were last run with in this browser, by name: `<project>/<slug>`. */
export const inputsKept = createStore('branchpoint-inputs', 'inputs')

/** What lets a merge or a commit go on after a reload: decisions about conflicts, and requests without an answer. */
export const unfinishedKept = createStore('branchpoint-unfinished', 'unfinished')

/** The names of all drafts in this browser, of all keys. */
export async function draftNames(): Promise<readonly string[]> {
  return (await keys(draftsKept)).map(String)
}

/** Deletes all drafts and inputs. Other tabs drop their drafts, so that none saves it again. */
export async function emptyDrafts(): Promise<void> {
  const channel = new BroadcastChannel(EMPTIED)
  channel.postMessage(null)
  channel.close()
  await Promise.all([draftsKept, inputsKept, unfinishedKept].map((it) => clear(it)))
}

/** Calls back when another tab deletes the drafts; returns a function that stops it. */
export function onEmptied(forget: () => void): () => void {
  const channel = new BroadcastChannel(EMPTIED)
  channel.addEventListener('message', forget)
  return () => channel.close()
}

const EMPTIED = 'branchpoint-drafts-emptied'
