import { connect } from 'node:net'

/** How a client leaves. */
export interface Departure {
  /** So many bytes of its request are sent first. */
  readonly sent: number
  /** So many bytes of the answer are waited for first, if all of the request was sent; none means that it leaves at once. */
  readonly read: number
  /** Closes as a program that ends does, resets as one that is killed with something unread, or only says that it sends no more. */
  readonly manner: 'close' | 'reset' | 'half'
}

/** Sends what is to be sent and leaves; resolves once the connection is gone, with whether an answer had begun. */
export function depart(url: string, bytes: Buffer, { sent, read, manner }: Departure): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true })
    let got = 0
    let timer: NodeJS.Timeout | undefined
    const leave = (): void => {
      clearTimeout(timer)
      if (manner === 'close') socket.destroy()
      else if (manner === 'reset') socket.resetAndDestroy()
      else socket.end()
    }
    socket.on('error', () => undefined)
    socket.on('end', () => socket.destroy())
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(got > 0)
    })
    socket.on('data', (piece) => {
      got += piece.length
      clearTimeout(timer)
      if (read > 0 && got >= read) leave()
      // all of the answer may be shorter
      else timer = setTimeout(() => socket.destroy(), 100)
    })
    socket.write(bytes.subarray(0, sent), () => {
      if (read === 0 || sent < bytes.length) leave()
    })
  })
}
