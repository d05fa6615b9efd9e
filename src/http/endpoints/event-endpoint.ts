import { z } from 'zod'
import type { KeyRing, Sessions } from '../../access/keys.ts'
import type { OpenEvents } from '../events/open-events.ts'
import type { Endpoint } from '../routing/endpoint.ts'
import { endpoint } from '../routing/endpoint.ts'

/** Where events and callers come from. */
export interface EventPlace {
  readonly events: OpenEvents
  readonly keys: Pick<KeyRing, 'liveKey'>
  readonly sessions: Pick<Sessions, 'find'>
}

/** `GET /events`: the events of the key's project, live (interface 13.8). */
export function eventEndpoint({ events, keys, sessions }: EventPlace): Endpoint {
  return endpoint({
    method: 'GET',
    path: '/events',
    tag: 'events',
    summary:
      'What happens in the project, as server-sent events: artifact, revision, deployment, evaluation; reset where some were missed',
    scope: 'read',
    output: z.never(),
    downloads: [EVENT_STREAM],
    run: ({ registry, caller, session, headers, untilGone }) => ({
      stream: events.follow(registry, caller.key.id, {
        // Node joins repeated headers, so this is never a list.
        lastId: headers['last-event-id'] as string | undefined,
        isStillIn: () =>
          (session ? sessions.find(session.token) : keys.liveKey(caller.project, caller.key.id)) !==
          undefined,
        gone: untilGone(),
      }),
      contentType: `${EVENT_STREAM}; charset=utf-8`,
      // nginx would otherwise buffer the events.
      headers: { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
    }),
  })
}

const EVENT_STREAM = 'text/event-stream'
