;; The octaves of gradient noise in the plane, for noise.ts: most of the time of a picture is spent here. The vector
;; instructions round each number like the same operations in TypeScript, so the pixels do not depend on them.
;;
;; `npx vitest run test/adapters/provider/local/noise.slow.test.ts --update` writes the compiled module to noise-kernel-code.ts, and a test checks that it is up to date.
(module
  ;; The tables of noises. A table has 512 bytes: the numbers 0 to 255 in random order, twice. The x components of the
  ;; slopes at the corners of the grid follow (512 numbers of 8 bytes), then their y components.
  (memory (export "memory") 5)

  ;; Sum of octaves, each twice as fine and half as strong; a fractional count fades the last one in. Stops when the finer
  ;; octaves cannot lift the sum to $floor.
  (func (export "fractal2")
    (param $table i32) (param $x f64) (param $y f64) (param $octaves f64) (param $floor f64)
    (result f64)
    (local $sum f64)
    (local $strength f64)
    (local $place v128)    ;; x, y
    (local $cell v128)     ;; the corner of the grid below it: whole numbers
    (local $offset v128)   ;; from that corner: 0 to 1
    (local $eased v128)    ;; the same, without an edge at 0 and 1
    (local $offsetX v128)  ;; the x offset from the west corners, twice
    (local $offsetsY v128) ;; the y offsets from the low and the high corners
    (local $integer v128)
    (local $order i32)     ;; address of the number of the west column
    (local $row i32)
    (local $west i32)      ;; addresses of the slopes at the low corners; those at the high ones come next
    (local $east i32)
    (local $sides v128)    ;; the noise at the low and the high side of the cell
    (local $low f64)

    (local.set $strength (f64.const 0.5))
    (local.set $place (f64x2.replace_lane 1 (f64x2.splat (local.get $x)) (local.get $y)))
    (if (f64.gt (local.get $octaves) (f64.const 0)) (then
      (loop $octave
        (local.set $cell (f64x2.floor (local.get $place)))
        (local.set $offset (f64x2.sub (local.get $place) (local.get $cell)))

        ;; Adding 1.5 * 2^52 moves a whole number into the lowest bits. The lowest byte is the number modulo 256.
        (local.set $integer (f64x2.add (local.get $cell) (v128.const f64x2 0x1.8p52 0x1.8p52)))
        (local.set $order (i32.add (local.get $table) (i8x16.extract_lane_u 0 (local.get $integer))))
        (local.set $row
          (i32.add (local.get $table) (i32.shl (i8x16.extract_lane_u 8 (local.get $integer)) (i32.const 3))))
        (local.set $west (i32.add (local.get $row) (i32.shl (i32.load8_u (local.get $order)) (i32.const 3))))
        (local.set $east (i32.add (local.get $row) (i32.shl (i32.load8_u offset=1 (local.get $order)) (i32.const 3))))

        ;; offset^3 * (offset * (offset * 6 - 15) + 10)
        (local.set $eased
          (f64x2.mul
            (f64x2.mul (f64x2.mul (local.get $offset) (local.get $offset)) (local.get $offset))
            (f64x2.add
              (f64x2.mul
                (local.get $offset)
                (f64x2.sub
                  (f64x2.mul (local.get $offset) (v128.const f64x2 6 6))
                  (v128.const f64x2 15 15)))
              (v128.const f64x2 10 10))))
        (local.set $offsetX
          (i8x16.shuffle 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 (local.get $offset) (local.get $offset)))
        (local.set $offsetsY
          (f64x2.sub
            (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $offset) (local.get $offset))
            (v128.const f64x2 0 1)))

        ;; Slope times offset at the west corners, and from there to the same at the east corners.
        (local.set $sides
          (f64x2.add
            (f64x2.mul (v128.load offset=512 (local.get $west)) (local.get $offsetX))
            (f64x2.mul (v128.load offset=4608 (local.get $west)) (local.get $offsetsY))))
        (local.set $sides
          (f64x2.add
            (local.get $sides)
            (f64x2.mul
              (f64x2.sub
                (f64x2.add
                  (f64x2.mul
                    (v128.load offset=512 (local.get $east))
                    (f64x2.sub (local.get $offsetX) (v128.const f64x2 1 1)))
                  (f64x2.mul (v128.load offset=4608 (local.get $east)) (local.get $offsetsY)))
                (local.get $sides))
              (i8x16.shuffle 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 (local.get $eased) (local.get $eased)))))
        (local.set $low (f64x2.extract_lane 0 (local.get $sides)))

        (if (f64.lt (local.get $octaves) (f64.const 1))
          (then (local.set $strength (f64.mul (local.get $strength) (local.get $octaves)))))
        (local.set $sum
          (f64.add
            (local.get $sum)
            (f64.mul
              (local.get $strength)
              (f64.add
                (local.get $low)
                (f64.mul
                  (f64.sub (f64x2.extract_lane 1 (local.get $sides)) (local.get $low))
                  (f64x2.extract_lane 1 (local.get $eased)))))))

        ;; All finer octaves together are at most as strong as this one, at most 0.82 (AT2_MAX in noise.ts) times its strength.
        (if (f64.lt (f64.add (local.get $sum) (f64.mul (local.get $strength) (f64.const 0.82))) (local.get $floor))
          (then (return (local.get $sum))))

        ;; Each octave is rotated a little, so that no grid is visible: x becomes 1.6 x + 1.2 y + 17.3, and y becomes
        ;; 1.6 y - 1.2 x + 5.9.
        (local.set $place
          (f64x2.add
            (f64x2.add
              (f64x2.mul (local.get $place) (v128.const f64x2 1.6 1.6))
              (f64x2.mul
                (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $place) (local.get $place))
                (v128.const f64x2 1.2 -1.2)))
            (v128.const f64x2 17.3 5.9)))
        (local.set $strength (f64.mul (local.get $strength) (f64.const 0.5)))
        (local.set $octaves (f64.sub (local.get $octaves) (f64.const 1)))
        (br_if $octave (f64.gt (local.get $octaves) (f64.const 0))))))
    (local.get $sum)))
