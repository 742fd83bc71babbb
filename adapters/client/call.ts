/** A value with the answer in which it came. */
export type WithResponse<T> = {
  readonly data: T;
  /** Its body is read already. */
  readonly response: Response;
  /** The `x-request-id` of the answer. */
  readonly requestId: string | undefined;
};

/** The result of one request. It rejects with a `PanoramaError`. */
export type Call<T> = Promise<T> & {
  /** The same result with status and headers. Sends no second request. */
  withResponse(): Promise<WithResponse<T>>;
};

/** What one request is answered. */
export type Answer<T> = { readonly value: T; readonly response: Response };

/** The call of a request that is under way. */
export const callOf = <T>(answered: Promise<Answer<T>>): Call<T> => {
  const call = answered.then(({ value }) => value);
  const withResponse = async (): Promise<WithResponse<T>> => {
    // Whoever asks for both is told of an error here, and not a second time as an unhandled rejection.
    call.catch(() => {});
    const { value: data, response } = await answered;
    return { data, response, requestId: response.headers.get("x-request-id") ?? undefined };
  };
  return Object.assign(call, { withResponse });
};
