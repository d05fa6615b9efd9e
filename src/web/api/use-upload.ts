import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { Answer } from './call.ts'
import { writeOurs } from './ours.ts'
import { type Upload, type UploadRoute, upload } from './upload.ts'

/** How far an upload is. Once all is sent the server reads it: `sent` equals `total`. */
export type UploadState<R extends UploadRoute> =
  | { readonly at: 'waiting' }
  | { readonly at: 'sending'; readonly sent: number; readonly total: number }
  /** `isSent`: all of the file had gone out, so that it may be stored although no answer came. */
  | { readonly at: 'failed'; readonly error: unknown; readonly isSent: boolean }
  | { readonly at: 'done'; readonly answer: Answer<R> }

/** Sends one file at a time, and shows how far it is; a second try of the same file is stored once. Leaving the page ends it. */
export function useUpload<R extends UploadRoute>(route: R) {
  const [state, setState] = useState<UploadState<R>>({ at: 'waiting' })
  const cache = useQueryClient()
  const running = useRef<AbortController>(undefined)
  const last = useRef<{ readonly of: string; readonly key: string }>(undefined)
  useEffect(() => () => running.current?.abort(new Error('The page was left.')), [])

  /** Answers what the server did; undefined where it was refused or cancelled, which `state` says. */
  async function start(it: Pick<Upload, 'path' | 'file' | 'fields'>): Promise<Answer<R> | undefined> {
    const { file, fields, path } = it
    const of = JSON.stringify([file.name, file.size, file.lastModified, fields, path])
    // Another file, or the same with other words, is another upload.
    if (last.current?.of !== of) last.current = { of, key: randomKey() }
    const { key } = last.current
    const controller = new AbortController()
    running.current = controller
    setState({ at: 'sending', sent: 0, total: file.size })
    let isSent = false
    try {
      const answer = await writeOurs(() =>
        upload(route, {
          ...it,
          idempotencyKey: key,
          signal: controller.signal,
          onProgress: (sent, total) => {
            isSent = sent >= total
            setState({ at: 'sending', sent, total })
          },
        }),
      )
      last.current = undefined
      setState({ at: 'done', answer })
      await cache.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
      return answer
    } catch (error) {
      setState(controller.signal.aborted ? { at: 'waiting' } : { at: 'failed', error, isSent })
      return undefined
    }
  }

  return {
    state,
    start,
    cancel: () => running.current?.abort(new Error('It was cancelled.')),
    reset: () => setState({ at: 'waiting' }),
  }
}

/** `crypto.randomUUID` is there only over https. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
