import { connect } from 'node:net'

/** Sends these very bytes to a server and resolves with all that it says until it closes the connection. */
export function rawRequest(url: string, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let answer = ''
    socket.on('data', (bytes) => (answer += bytes.toString('latin1')))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(answer))
    socket.write(text, 'latin1')
  })
}
