import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { isSignedOut, type Send, send } from './api.ts'
import { toast } from './toasts.ts'

/** Callbacks of a run. Without `onError`, an error is shown as a toast. */
interface Then<Result> {
  onDone?: (result: Result) => void
  onError?: (error: unknown) => void
}

export interface Action<Input = void, Result = unknown> {
  /** Does nothing while an earlier run is pending. */
  run(input: Input, then?: Then<Result>): void
  isPending: boolean
}

interface Options<Input, Result> {
  /** Paths. Afterwards, every query whose path starts with one of them is refetched. */
  refetch?: readonly string[]
  /** The text of the toast after success, if any. */
  done?: string | ((result: Result, input: Input) => string | undefined)
}

/**
 * An action of a person: a change, a message, a download. Every request that changes data goes through here, so that it
 * behaves the same on every page: an expired session leads to the sign-in page (see createQueryClient), a second click
 * does nothing, and a request that needs a confirmation prompts for it and continues. Forms show errors with `useForm`.
 */
export function useAction<Input = void, Result = unknown>(
  perform: (send: Send, input: Input) => Promise<Result>,
  { refetch = [], done }: Options<Input, Result> = {},
): Action<Input, Result> {
  const client = useQueryClient()
  const isRunning = useRef(false)
  const { mutateAsync, isPending } = useMutation({
    mutationFn: (input: Input) => perform(send, input),
    // Offline it fails immediately, instead of being sent unexpectedly when the connection is back.
    networkMode: 'always',
  })
  const refetchAll = () =>
    void client.invalidateQueries({
      predicate: ({ queryKey }) => refetch.some((path) => String(queryKey[0]).startsWith(path)),
    })
  const succeed = (result: Result, input: Input, { onDone }: Then<Result>) => {
    refetchAll()
    const message = typeof done === 'function' ? done(result, input) : done
    if (message) toast.done(message)
    onDone?.(result)
  }
  const fail = (error: unknown, { onError }: Then<Result>) => {
    // Refetch after a failure too: the request may have succeeded in part, or the data changed.
    if (!isSignedOut(error)) refetchAll()
    if (onError) onError(error)
    else if (!isSignedOut(error)) toast.failed(error)
  }
  return {
    isPending,
    run(input, then = {}) {
      if (isRunning.current) return
      isRunning.current = true
      void mutateAsync(input)
        .finally(() => {
          isRunning.current = false
        })
        .then(
          (result) => succeed(result, input, then),
          (error) => fail(error, then),
        )
    },
  }
}
