import { useQuery } from '@tanstack/react-query'
import { type Ask, type Route, send } from './call.ts'

/** What a route answers, as the text that the server sent: numbers and key orders as they are stored. Throws as `call` does. */
export async function callExactly<R extends Route>(
  route: R,
  ask: Ask<R>,
  signal?: AbortSignal,
): Promise<string> {
  return (await send(route, ask, signal)).text()
}

/** `useRoute` for an answer as text. */
export function useExactRoute<R extends Route>(
  route: R,
  ask: Ask<R>,
  options: { readonly enabled?: boolean } = {},
) {
  return useQuery({
    queryKey: [route, ask, 'exact'],
    queryFn: ({ signal }) => callExactly(route, ask, signal),
    enabled: options.enabled ?? true,
    staleTime: 2000,
  })
}
