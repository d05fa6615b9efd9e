import { expect } from 'chai'
import type { Reply, RunningService } from '../support/servers/service.ts'

/** The same POST, which changes nothing when repeated, at each address a client may use; the one answer of all of them. */
export async function postEverywhere(service: RunningService, path: string, body: object): Promise<Reply> {
  const bare = path.replace(/\/$/, '')
  const replies = []
  for (const url of [bare, `${bare}/`, `/api${bare}`, `/api${bare}/`])
    replies.push(await service.post(url, body))
  for (const reply of replies) {
    expect(reply.status, reply.text).to.equal(200)
    expect(reply.text).to.equal(replies[0]?.text)
  }
  return replies[0] as Reply // four addresses, four replies
}
