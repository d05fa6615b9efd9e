import type { RefusalCode, RefusalData } from '../../errors.ts'

/** The kinds of work of a thread, by name. */
export type Works<W> = { readonly [N in keyof W]: { readonly asks: object; readonly answers: unknown } }

/** A request to a thread. */
export type ThreadRequest<W extends Works<W>> = {
  readonly [N in keyof W]: {
    readonly id: number
    readonly work: N
    readonly file: string
    /** If set, only the file with these inodes may be opened (see DatabaseFile). */
    readonly inodes?: string
    readonly asks: W[N]['asks']
  }
}[keyof W]

/** Tells the thread to end, after its `ThreadSignal` was set. */
export const END = 'end'

/** The thread's answer. */
export type ThreadReply =
  { readonly id: number; readonly answer: unknown } | { readonly id: number; readonly failure: ThreadFailure }

/** Why work failed: a refusal, a file that cannot be used now, or an unexpected error. */
export type ThreadFailure =
  | {
      readonly kind: 'refusal'
      readonly code: RefusalCode
      readonly message: string
      readonly data: RefusalData
    }
  | { readonly kind: 'storage'; readonly message: string; readonly isDamage: boolean }
  | { readonly kind: 'bug'; readonly message: string; readonly stack: string | undefined }
