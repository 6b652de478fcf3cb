package dev.sealward;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.JsonGeneratorDelegate;
import java.io.IOException;
import java.io.Serial;

/** Refuses the numbers that JSON does not have. Jackson writes them as strings. */
final class LosslessGenerator extends JsonGeneratorDelegate {
    /** Jackson reports it as the cause of its own failure. */
    static final class NotFinite extends IOException {
        @Serial
        private static final long serialVersionUID = 1;
    }

    LosslessGenerator(JsonGenerator target) {
        // Values inside of others come to this generator too.
        super(target, false);
    }

    @Override
    public void writeNumber(double number) throws IOException {
        requireFinite(number);
        super.writeNumber(number);
    }

    @Override
    public void writeNumber(float number) throws IOException {
        requireFinite(number);
        super.writeNumber(number);
    }

    @Override
    public void writeArray(double[] numbers, int offset, int length) throws IOException {
        for (int index = offset; index < offset + length; index++) {
            requireFinite(numbers[index]);
        }
        super.writeArray(numbers, offset, length);
    }

    private static void requireFinite(double number) throws NotFinite {
        if (!Double.isFinite(number)) {
            throw new NotFinite();
        }
    }
}
